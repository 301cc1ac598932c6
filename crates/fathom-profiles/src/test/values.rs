use std::path::Path;

use fathom_base::{Bytes, Nanos, Percent};
use fathom_model::{Case, Host, OptionKind};

use crate::profile::{Let, Profile, SCALE, Value};
use crate::service::ServiceHandle;

/// Deepest chain of values of `[let]`.
const DEPTH_LIMIT: usize = 32;

/// The values that a profile's texts may use, for one case.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CaseValues<'a> {
    pub profile: &'a Profile,
    pub case: &'a Case,
    pub host: &'a Host,
    /// The case's directory on the target.
    pub directory: &'a Path,
    /// The block device, where the target is one.
    pub device: Option<&'a Path>,
    /// The server, once it answers.
    pub service: Option<&'a ServiceHandle>,
    /// From 1; 0 while preparing.
    pub trial: u32,
}

/// Whether `[short]` is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    /// As chosen.
    Chosen,
    /// As the scale makes of it.
    Scaled,
}

impl CaseValues<'_> {
    /// The value of a name; `None` when it has none here.
    pub(crate) fn value(&self, name: &str) -> Option<Value> {
        self.look(name, View::Scaled, 0)
    }

    /// The same as a number.
    pub(crate) fn number(&self, name: &str) -> Option<f64> {
        self.value(name)?.number()
    }

    fn look(&self, name: &str, view: View, depth: usize) -> Option<Value> {
        if depth > DEPTH_LIMIT {
            return None;
        }
        if view == View::Scaled
            && self.case.options.get(SCALE) == Some("short")
            && let Some(expression) = self.profile.short.get(name)
        {
            let lookup = |name: &str| self.look(name, View::Chosen, depth + 1)?.number();
            let number = expression.value(&lookup).ok()?;
            return Some(self.of_kind(name, number));
        }
        if let Some(text) = self.case.options.get(name) {
            return Some(self.typed(name, text));
        }
        if let Some(computed) = self.profile.lets.get(name) {
            return self.computed(computed, view, depth);
        }
        self.of_host(name).or_else(|| self.of_service(name))
    }

    fn computed(&self, computed: &Let, view: View, depth: usize) -> Option<Value> {
        let expression = match computed {
            Let::Plain(expression) => expression,
            Let::By {
                option,
                values,
                otherwise,
            } => {
                let chosen = self.case.options.get(option)?;
                values.get(chosen).or(otherwise.as_ref())?
            }
        };
        let lookup = |name: &str| self.look(name, view, depth + 1)?.number();
        Some(Value::Number(expression.value(&lookup).ok()?))
    }

    fn kind(&self, name: &str) -> Option<OptionKind> {
        let options = self.profile.options.iter();
        let mut options = options.filter(|option| option.info.name == name);
        options.next().map(|option| option.info.kind)
    }

    /// A number as the kind of the option has it.
    fn of_kind(&self, name: &str, number: f64) -> Value {
        match self.kind(name) {
            Some(OptionKind::Size(..)) => Value::Size(Bytes::new(number.max(0.0) as u64)),
            Some(OptionKind::Duration(..)) => {
                Value::Time(Nanos::new((number.max(0.0) * 1e9).round() as u64))
            }
            Some(OptionKind::Integer(..)) => Value::Number(number.max(0.0).floor()),
            _ => Value::Number(number),
        }
    }

    fn typed(&self, name: &str, text: &str) -> Value {
        let plain = || Value::Text(text.to_owned());
        match self.kind(name) {
            Some(OptionKind::Size(..)) => text.parse().map_or_else(|_| plain(), Value::Size),
            Some(OptionKind::Duration(..)) => text.parse().map_or_else(|_| plain(), Value::Time),
            Some(OptionKind::Integer(..) | OptionKind::Number(..)) => {
                text.parse().map_or_else(|_| plain(), Value::Number)
            }
            Some(OptionKind::Percent) => text
                .parse::<Percent>()
                .map_or_else(|_| plain(), |percent| Value::Number(percent.value())),
            Some(OptionKind::Flag) => Value::Flag(text == "yes"),
            _ => plain(),
        }
    }

    fn of_host(&self, name: &str) -> Option<Value> {
        let path = |path: &Path| Value::Text(path.display().to_string());
        Some(match name {
            "cpus" => Value::Number(f64::from(self.host.cpus)),
            "memory" => Value::Size(self.host.memory),
            "scratch" => path(self.directory),
            "target" => Value::Text(self.host.target.path.clone()),
            "device" => path(self.device?),
            "trial" => Value::Number(f64::from(self.trial)),
            _ => return None,
        })
    }

    fn of_service(&self, name: &str) -> Option<Value> {
        let service = self.service?;
        let text = |text: &str| Value::Text(text.to_owned());
        Some(match name {
            "service.url" => text(&service.url),
            "service.socket" => text(&service.socket.as_ref()?.display().to_string()),
            "service.host" => text(&service.host),
            "service.port" => text(&service.port.to_string()),
            "service.user" => text(&service.user),
            "service.database" => text(&service.database),
            "service.version" => text(&service.version),
            _ => return None,
        })
    }
}
