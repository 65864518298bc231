//! The macro.

/// Declares a struct of settings.
///
/// Of each field: its documentation, its name, its type, and
///
/// - `"key"` after its name, if the file writes another than that;
/// - `as W`: how a file writes it, if not as its type: a [`Written<T>`](crate::Written);
/// - `= default`, and `paper_2013 = default` where that preset differs; or `required example`; or
///   `from |c| default => "text"`, a default that follows from the settings before it;
/// - `within bounds`: a [`Bounds`](crate::Bounds);
/// - `of scope`: a [`Scope`](crate::Scope), if it is not for all of TCP and MPTCP;
/// - `when |c| condition => "text"`: it applies only then.
///
/// Behind the settings may stand `groups { ... }`, structs of settings whose keys stand in the same
/// table, and `others { ... }`, fields that are no settings, with their values.
#[macro_export]
macro_rules! settings {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident $($key:literal)?: $type:ty $(as $written:ty)?
                    $(= $default:expr)? $(, paper_2013 = $paper:expr)?
                    $(, required $example:expr)?
                    $(, from |$before:ident| $derived:expr => $derivation:literal)?
                    $(, within $bounds:expr)?
                    $(, of $scope:ident)?
                    $(, when |$this:ident| $condition:expr => $to:literal)?;
            )*
        }
        $(groups { $(
            $(#[doc = $group_doc:literal])+
            $group:ident: $group_type:ty
                $(, when |$group_this:ident| $group_condition:expr => $group_to:literal)?;
        )* })?
        $(others { $($(#[doc = $other_doc:literal])+ $other:ident: $other_type:ty = $other_value:expr;)* })?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $name {
            $($(#[doc = $doc])+ pub $field: $type,)*
            $($($(#[doc = $group_doc])+ pub $group: $group_type,)*)?
            $($($(#[doc = $other_doc])+ pub $other: $other_type,)*)?
        }

        impl $crate::Settings for $name {
            fn defaults(preset: $crate::Preset) -> $name {
                $name {
                    $($field: match preset {
                        $($crate::Preset::Paper2013 => $paper,)?
                        _ => { $($default)? $($example)? $(let _ = $derivation; ::core::default::Default::default())? }
                    },)*
                    $($($group: <$group_type as $crate::Settings>::defaults(preset),)*)?
                    $($($other: $other_value,)*)?
                }
            }

            fn each<V: $crate::Visit>(&mut self, visit: &mut V) {
                $({
                    $(if V::READS {
                        let $before = &*self;
                        self.$field = $derived;
                    })?
                    type Form = $crate::settings!(@form $($written,)? $type);
                    let setting = $crate::Setting {
                        key: $crate::settings!(@or $($key,)? stringify!($field)),
                        doc: &[$($doc),+],
                        scope: $crate::settings!(@or $($crate::Scope::$scope,)? $crate::Scope::Tcp),
                        fallback: $crate::settings!(@default $($example)? $(, $derivation)?),
                        schema: |generator| {
                            #[allow(unused_mut)]
                            let mut schema = generator.subschema_for::<Form>();
                            $($bounds.describe(&mut schema);)?
                            schema
                        },
                    };
                    let state = $crate::State {
                        applies: true $(&& { let $this = &*self; $condition })?,
                        condition: $crate::settings!(@or $(Some($to),)? None),
                        wrong: $crate::settings!(
                            @or $($bounds.wrong(&<Form as $crate::Written<$type>>::of(&self.$field)),)? None
                        ),
                    };
                    visit.setting::<$type, Form>(&setting, &mut self.$field, state);
                })*
                $($(
                    $crate::settings!(@group self, visit, $group $(, $group_this, $group_condition, $group_to)?);
                )*)?
            }
        }
    };

    (@form $first:ty, $otherwise:ty) => { $first };
    (@form $otherwise:ty) => { $otherwise };
    (@or $first:expr, $otherwise:expr) => { $first };
    (@or $otherwise:expr) => { $otherwise };
    (@default) => { $crate::Fallback::Preset };
    (@default $example:expr) => { $crate::Fallback::Required };
    (@default , $text:literal) => { $crate::Fallback::From($text) };
    (@group $self:ident, $visit:ident, $group:ident) => { $self.$group.each($visit) };
    (@group $self:ident, $visit:ident, $group:ident, $this:ident, $condition:expr, $to:literal) => {
        let applies = { let $this = &*$self; $condition };
        $self.$group.each(&mut $crate::Gated { visit: $visit, applies, condition: $to });
    };
}
