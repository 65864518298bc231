//! What a kernel's type information (BTF) says of the kernel: which structs, members and functions
//! it has.

use anyhow::{Context, Result};
use libbpf_rs::btf::types::{Composite, Func, FuncProto, MemberAttr, Ptr, Struct};
use libbpf_rs::btf::{BtfType, ReferencesType};
use std::path::Path;

/// The type information of one kernel.
#[derive(Debug)]
pub struct KernelTypes {
    btf: libbpf_rs::btf::Btf<'static>,
}

impl KernelTypes {
    /// Of the running kernel. Errors: it has none (`CONFIG_DEBUG_INFO_BTF`), or it cannot be read.
    pub fn running() -> Result<KernelTypes> {
        let btf = libbpf_rs::btf::Btf::from_vmlinux().context("/sys/kernel/btf/vmlinux")?;
        Ok(KernelTypes { btf })
    }

    /// Of another kernel, from a file: a raw BTF file, or an ELF file with a `.BTF` section.
    pub fn of_file(path: &Path) -> Result<KernelTypes> {
        // The error tells what libbpf would print.
        let print = libbpf_rs::set_print(None);
        let btf = libbpf_rs::btf::Btf::from_path(path);
        libbpf_rs::set_print(print);
        Ok(KernelTypes { btf: btf.with_context(|| format!("{}", path.display()))? })
    }

    /// Is there a struct of this name?
    pub fn has_struct(&self, name: &str) -> bool {
        self.btf.type_by_name::<Struct<'_>>(name).is_some()
    }

    /// Is there a function of this name? Functions that BPF programs may call (kfuncs) are among
    /// them.
    pub fn has_function(&self, name: &str) -> bool {
        self.btf.type_by_name::<Func<'_>>(name).is_some()
    }

    /// Has `structure` the member, itself or in one of its nameless structs and unions?
    pub fn has_member(&self, structure: &str, member: &str) -> bool {
        let found = self.btf.type_by_name::<Composite<'_>>(structure);
        found.is_some_and(|s| self.type_of_member(s, member).is_some())
    }

    /// Where `member` is in `structure`, in bytes; `None` without such a member, or if it is a bit
    /// field.
    pub fn offset(&self, structure: &str, member: &str) -> Option<usize> {
        let found = self.btf.type_by_name::<Composite<'_>>(structure)?;
        (0..found.len()).find_map(|at| {
            let own = found.get(at)?;
            match own.attr {
                MemberAttr::Normal { offset } if own.name.is_some_and(|n| n == member) => Some(offset as usize / 8),
                _ => None,
            }
        })
    }

    /// How many arguments the function takes that `structure` points to by `member`; `None` without
    /// such a member.
    pub fn arguments(&self, structure: &str, member: &str) -> Option<usize> {
        let found = self.btf.type_by_name::<Composite<'_>>(structure)?;
        let pointer = Ptr::try_from(self.type_of_member(found, member)?).ok()?;
        Some(FuncProto::try_from(pointer.referenced_type()).ok()?.len())
    }

    fn type_of_member<'a>(&'a self, of: Composite<'a>, name: &str) -> Option<BtfType<'a>> {
        (0..of.len()).find_map(|at| {
            let member = of.get(at)?;
            let its_type = self.btf.type_by_id::<BtfType<'_>>(member.ty)?.skip_mods_and_typedefs();
            match member.name.filter(|own| !own.is_empty()) {
                Some(own) => (own == name).then_some(its_type),
                None => self.type_of_member(Composite::try_from(its_type).ok()?, name),
            }
        })
    }
}
