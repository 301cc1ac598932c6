/// Declares an enum that is a menu: each value with the text a user types and its help.
///
/// Gives `ALL`, `name()`, `Display`, `FromStr` and `option()`, which makes the row of the option
/// table, so that parser and menu cannot disagree.
macro_rules! menu {
    (
        $(#[$meta:meta])*
        $what:literal $Name:ident { $( $(#[$doc:meta])* $Value:ident = $text:literal $help:literal, )+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $Name {
            $( $(#[$doc])* #[doc = $help] $Value, )+
        }

        impl $Name {
            /// Every value, in the order of the menu.
            pub const ALL: &'static [Self] = &[ $( Self::$Value, )+ ];

            /// As typed.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$Value => $text, )+ }
            }

            /// The row of the option table.
            pub fn option(name: &'static str, default: Self, help: &'static str) -> $crate::OptionInfo {
                let row = $crate::OptionInfo::new(
                    name,
                    $crate::OptionKind::Choice,
                    default.name(),
                    help,
                );
                row $( .choice($text, $help) )+
            }
        }

        impl std::fmt::Display for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $Name {
            type Err = fathom_base::UnitError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::ALL
                    .iter()
                    .copied()
                    .find(|value| value.name() == text)
                    .ok_or_else(|| fathom_base::UnitError {
                        text: text.to_owned(),
                        what: $what,
                        expected: concat!("one of" $(, " ", $text)+),
                    })
            }
        }
    };
}

pub(crate) use menu;
