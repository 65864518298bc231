//! The macros that declare settings and kinds.

/// Declares a struct of settings. It derives `Clone`, `Debug`, `PartialEq` and the traits of
/// `#[derive()]`.
///
/// Each field has its documentation, its name and its type, and may have these clauses, in this
/// order:
///
/// - `"key"` after its name: its key in the file, if it differs from the name;
/// - `as W`: its form in a file, if it differs from its type; `W` implements
///   [`Written<T>`](crate::Written);
/// - `= default`, and `paper_2013 = default` if that preset differs; or `required example`; or
///   `from |c| default => "text"`, a default that follows from the settings before it;
/// - `within limit`: a [`Limit`](crate::Limit) such as [`Bounds`](crate::Bounds), or several;
/// - `refused |c| condition => message`: another error of its value, or several;
/// - `of scope`: a [`Scope`](crate::Scope), if it is not for all transports of TCP and MPTCP;
/// - `when |c| condition => "text"`: it applies only under this condition.
///
/// After the settings, a struct may have these blocks:
///
/// - `tables { ... }`: structs of settings with an optional table of their own;
/// - `chosen { field "key"; }`: the setting `key` names a kind, the field `field` holds it
///   ([`Kinds`](crate::Kinds)), and the settings of the kind stand in a table of its name;
/// - `groups { ... }`: structs of settings whose keys stand in the same table;
/// - `others { ... }`: fields that are no settings, with their values.
#[macro_export]
macro_rules! settings {
    (
        $(#[doc = $about:literal])+
        $(#[derive($($derive:ident),+)])?
        $vis:vis struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $field:ident $($key:literal)?: $type:ty $(as $written:ty)?
                    $(= $default:expr)? $(, paper_2013 = $paper:expr)?
                    $(, required $example:expr)?
                    $(, from |$before:ident| $derived:expr => $derivation:literal)?
                    $(, within $limit:expr)*
                    $(, refused |$refusing:ident| $refused:expr => $why:expr)*
                    $(, of $scope:ident)?
                    $(, when |$this:ident| $condition:expr => $to:literal)?;
            )*
        }
        $(tables { $(
            $(#[doc = $table_doc:literal])+
            $table:ident: $table_type:ty
                $(, refused |$table_refusing:ident| $table_refused:expr => $table_why:expr)*;
        )* })?
        $(chosen { $($chosen:ident $chosen_key:literal;)* })?
        $(groups { $(
            $(#[doc = $group_doc:literal])+
            $group:ident: $group_type:ty
                $(, when |$group_this:ident| $group_condition:expr => $group_to:literal)?;
        )* })?
        $(others { $($(#[doc = $other_doc:literal])+ $other:ident: $other_type:ty = $other_value:expr;)* })?
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq $(, $($derive),+)?)]
        $vis struct $name {
            $($(#[doc = $doc])+ pub $field: $type,)*
            $($($(#[doc = $table_doc])+ pub $table: ::core::option::Option<$table_type>,)*)?
            $($($(#[doc = $group_doc])+ pub $group: $group_type,)*)?
            $($($(#[doc = $other_doc])+ pub $other: $other_type,)*)?
        }

        impl $crate::Declared for $name {
            const NAME: &'static str = stringify!($name);
            const ABOUT: &'static [&'static str] = &[$($about),+];
        }

        impl $crate::Settings for $name {
            fn defaults(preset: $crate::Preset) -> $name {
                $name {
                    $($field: match preset {
                        $($crate::Preset::Paper2013 => $paper,)?
                        _ => { $($default)? $($example)? $(let _ = $derivation; ::core::default::Default::default())? }
                    },)*
                    $($($table: ::core::option::Option::None,)*)?
                    $($($group: <$group_type as $crate::Settings>::defaults(preset),)*)?
                    $($($other: $other_value,)*)?
                }
            }

            fn each<V: $crate::Visit>(&mut self, visit: &mut V) {
                $({
                    let key: &'static str = $crate::settings!(@or $($key,)? stringify!($field));
                    $(if visit.derives(key) {
                        let $before = &*self;
                        self.$field = $derived;
                    })?
                    type Form = $crate::settings!(@form $($written,)? $type);
                    let setting = $crate::Setting {
                        key,
                        doc: &[$($doc),+],
                        scope: $crate::settings!(@or $($crate::Scope::$scope,)? $crate::Scope::Tcp),
                        fallback: $crate::settings!(@default $($example)? $(, $derivation)?),
                        schema: |generator| {
                            #[allow(unused_mut)]
                            let mut schema = generator.subschema_for::<Form>();
                            $($crate::Limit::<Form>::describe(&$limit, &mut schema);)*
                            schema
                        },
                    };
                    let wrong: ::core::option::Option<$crate::Wrong> = ::core::option::Option::None;
                    $(let wrong = wrong.or_else(|| {
                        $crate::Limit::<Form>::wrong(&$limit, &<Form as $crate::Written<$type>>::of(&self.$field))
                    });)*
                    let refused: ::core::option::Option<$crate::Wrong> = ::core::option::Option::None;
                    $(let refused = refused.or_else(|| {
                        let $refusing = &*self;
                        (wrong.is_none() && ($refused)).then(|| $why.into())
                    });)*
                    let state = $crate::State {
                        applies: true $(&& { let $this = &*self; $condition })?,
                        condition: $crate::settings!(@or $(Some($to),)? None),
                        wrong,
                        refused,
                    };
                    visit.setting::<$type, Form>(&setting, &mut self.$field, state);
                })*
                $($({
                    let wrong: ::core::option::Option<$crate::Wrong> = ::core::option::Option::None;
                    $(let wrong = wrong.or_else(|| {
                        let $table_refusing = &*self;
                        ($table_refused).then(|| $table_why.into())
                    });)*
                    visit.table(stringify!($table), &[$($table_doc),+], &mut self.$table, wrong);
                })*)?
                $($(visit.chosen($chosen_key, &mut self.$chosen);)*)?
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

/// Declares an enum of kinds. Each kind has its documentation, its settings if it has any, and its
/// name in a file.
#[macro_export]
macro_rules! kinds {
    (
        $(#[doc = $about:literal])+
        $(#[derive($($derive:ident),+)])?
        $vis:vis enum $name:ident {
            $($(#[doc = $doc:literal])+ $kind:ident $(($settings:ty))? = $text:literal;)+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq $(, $($derive),+)?)]
        $vis enum $name {
            $($(#[doc = $doc])+ $kind $(($settings))?,)+
        }

        impl $crate::Kinds for $name {
            const TITLE: &'static str = stringify!($name);
            const ABOUT: &'static [&'static str] = &[$($about),+];
            const NAMES: &'static [&'static str] = &[$($text),+];

            fn named(name: &str) -> ::core::option::Option<$name> {
                match name {
                    $($text => Some($crate::kinds!(@new $name, $kind $(, $settings)?)),)+
                    _ => None,
                }
            }

            fn name(&self) -> &'static str {
                match self { $($name::$kind { .. } => $text,)+ }
            }

            fn each<V: $crate::Visit>(&mut self, visit: &mut V) {
                let _ = &visit;
                $($crate::kinds!(@each self, visit, $name, $kind $(, $settings)?);)+
            }

            fn kinds<W: $crate::EachKind>(each: &mut W) {
                $($crate::kinds!(@kind each, $text, [$($doc),+] $(, $settings)?);)+
            }
        }
    };

    (@new $name:ident, $kind:ident) => { $name::$kind };
    (@new $name:ident, $kind:ident, $settings:ty) => {
        $name::$kind(<$settings as $crate::Settings>::defaults($crate::Preset::Linux))
    };
    (@each $value:ident, $visit:ident, $name:ident, $kind:ident) => {};
    (@each $value:ident, $visit:ident, $name:ident, $kind:ident, $settings:ty) => {
        if let $name::$kind(settings) = $value {
            <$settings as $crate::Settings>::each(settings, $visit);
        }
    };
    (@kind $each:ident, $text:literal, [$($doc:literal),+]) => { $each.plain($text, &[$($doc),+]) };
    (@kind $each:ident, $text:literal, [$($doc:literal),+], $settings:ty) => {
        $each.kind::<$settings>($text, &[$($doc),+])
    };
}
