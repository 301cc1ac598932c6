//! What bends figures on a machine, before anything is measured.

use fathom_base::Bytes;
use fathom_model::judge::limits;
use fathom_model::{LayerKind, Machine, TargetInfo};

#[cfg(test)]
mod tests;

/// Locked memory the I/O engine may want for registered buffers.
const LOCKED_MEMORY_WANTED: u64 = 64 << 20;
/// Load for each processor from which a machine is not quiet.
const LOAD_SHARE: f64 = 0.25;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Figures will be worse than they need to be, or noisier, or of something else.
    Warning,
}

/// Something about the machine that bends figures, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Stable name: `governor`, `nearly-full`.
    pub id: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// One line: `governor is powersave: short I/O will look slower`.
    pub text: String,
    /// What to do; may be empty.
    pub advice: String,
}

/// Looks for what bends figures on this machine and target; warnings first.
pub fn doctor(machine: &Machine, target: &TargetInfo) -> Vec<Finding> {
    let mut findings = Findings::default();
    processor(machine, &mut findings);
    kernel(machine, &mut findings);
    mount(target, &mut findings);
    stack(target, &mut findings);
    drives(target, &mut findings);
    findings
        .0
        .sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    findings.0
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn warn(&mut self, id: &'static str, text: impl Into<String>, advice: impl Into<String>) {
        self.add(Severity::Warning, id, text.into(), advice.into());
    }

    fn note(&mut self, id: &'static str, text: impl Into<String>, advice: impl Into<String>) {
        self.add(Severity::Note, id, text.into(), advice.into());
    }

    fn add(&mut self, severity: Severity, id: &'static str, text: String, advice: String) {
        self.0.push(Finding {
            id,
            severity,
            text,
            advice,
        });
    }
}

fn processor(machine: &Machine, findings: &mut Findings) {
    if let Some(governor) = machine.cpu.governor.as_deref()
        && !governor.split(" + ").all(|name| name == "performance")
    {
        let text = format!("governor is {governor}: short I/O will look slower");
        let advice = "cpupower frequency-set --governor performance";
        findings.note("governor", text, advice);
    }
    if let Some(load) = machine.platform.load {
        let allowed = f64::from(machine.cpu.threads.max(1)) * LOAD_SHARE;
        if load > allowed.max(0.5) {
            let text = format!(
                "load average is {load:.2} on {} processors: others are at work",
                machine.cpu.threads
            );
            findings.warn(
                "load",
                text,
                "wait until they are done, or stop them (top shows them)",
            );
        }
    }
    if let Some(quota) = machine.platform.cpu_quota {
        let text = format!("a CPU quota allows {quota:.2} CPUs");
        findings.warn("cpu-quota", text, "raise cpu.max of the control group");
    }
}

fn kernel(machine: &Machine, findings: &mut Findings) {
    let platform = &machine.platform;
    if let Some(source) = platform.clock_source.as_deref()
        && !limits::FAST_CLOCKS.contains(&source)
    {
        let text = format!("clock source is {source}: every reading of the clock asks the kernel");
        let advice = "see /sys/devices/system/clocksource/clocksource0/available_clocksource";
        findings.warn("clock-source", text, advice);
    }
    if let Some(limit) = platform
        .locked_memory_limit_bytes
        .filter(|l| *l < LOCKED_MEMORY_WANTED)
    {
        let text = format!(
            "locked memory is limited to {}: more I/O buffers than that cannot be registered",
            Bytes::new(limit)
        );
        findings.note(
            "locked-memory",
            text,
            "ulimit -l unlimited, or LimitMEMLOCK=infinity",
        );
    }
    match platform.io_uring_disabled {
        Some(2) => findings.note(
            "io-uring",
            "io_uring is disabled for everybody (kernel.io_uring_disabled=2): libaio is used",
            "sysctl kernel.io_uring_disabled=0",
        ),
        Some(1) => findings.note(
            "io-uring",
            "io_uring is for privileged users only (kernel.io_uring_disabled=1)",
            "run as root, or sysctl kernel.io_uring_disabled=0",
        ),
        _ => {}
    }
    if let Some(limit) = &platform.io_limit {
        let text = format!("the control group limits I/O: {limit}");
        findings.warn("io-limit", text, "raise io.max of the control group");
    }
    if let Some(name) = &platform.hypervisor {
        let text = format!("this is a virtual machine ({name}): the host may cache and limit I/O");
        findings.note("virtual", text, "");
    }
}

fn mount(target: &TargetInfo, findings: &mut Findings) {
    if let Some(memory) = &target.memory {
        let text = format!("the target is memory ({})", memory.0);
        let advice = "choose a directory on a drive: fathom system --targets";
        findings.warn("memory", text, advice);
    }
    let Some(mount) = &target.mount else { return };
    let has = |name: &str| mount.options.iter().any(|option| option == name);
    let point = &mount.point;
    if has("ro") {
        let text = format!("{point} is mounted read-only");
        findings.warn("read-only", text, format!("mount -o remount,rw {point}"));
    }
    if has("noexec") {
        let text = format!("{point} is mounted noexec: tests that run programs there cannot");
        findings.note("noexec", text, format!("mount -o remount,exec {point}"));
    }
    if has("nobarrier") || has("barrier=0") {
        let text = format!("{point} is mounted without barriers: syncs do not reach the media");
        findings.warn(
            "no-barrier",
            text,
            format!("mount -o remount,barrier=1 {point}"),
        );
    }
    if has("sync") || has("dirsync") {
        let text = format!("{point} is mounted sync: every write waits for the drive");
        findings.note("sync", text, format!("mount -o remount,async {point}"));
    }
    let used = mount.size_bytes.saturating_sub(mount.available_bytes);
    let fill = used as f64 / mount.size_bytes.max(1) as f64;
    if mount.size_bytes > 0 && fill > limits::FILL {
        let text = format!(
            "{point} is {:.0} % full: file system and drive get slower",
            fill * 1e2
        );
        findings.warn("nearly-full", text, "free some space, then fstrim");
    }
    if let Some(what) = &target.compressing {
        let text = format!("{what}: compressible data will look faster");
        findings.note("compressing", text, "keep the contents random");
    }
}

fn stack(target: &TargetInfo, findings: &mut Findings) {
    for layer in target
        .layers
        .iter()
        .filter(|layer| layer.kind == LayerKind::Md)
    {
        if layer.detail.contains("missing") {
            let text = format!("{} is degraded ({})", layer.name, layer.detail);
            findings.warn(
                "degraded-array",
                text,
                format!("mdadm --detail /dev/{}", layer.name),
            );
        }
        if layer.detail.ends_with("running") {
            let text = format!(
                "{} is being rebuilt or checked ({})",
                layer.name, layer.detail
            );
            findings.warn(
                "array-busy",
                text,
                "wait until cat /proc/mdstat shows it is done",
            );
        }
    }
    let buffered_loop = target
        .layers
        .iter()
        .find(|layer| layer.kind == LayerKind::Loop && !layer.detail.ends_with(", direct I/O"));
    if let Some(layer) = buffered_loop.filter(|_| target.memory.is_none()) {
        let text = format!(
            "{} reads and writes its file through the page cache",
            layer.name
        );
        findings.warn(
            "loop-cache",
            text,
            format!("losetup --direct-io=on /dev/{}", layer.name),
        );
    }
    if let Some(why) = &target.opaque {
        findings.note("opaque", format!("the drives cannot be seen: {why}"), "");
    }
    if let Some(what) = &target.assumption {
        findings.note("assumption", what.clone(), "");
    }
}

fn drives(target: &TargetInfo, findings: &mut Findings) {
    for drive in &target.drives {
        if let Some(link) = drive.link.as_ref().filter(|link| link.is_degraded) {
            let text = format!(
                "{} is linked by {}, less than drive and slot could do",
                drive.name, link.text
            );
            findings.warn(
                "degraded-link",
                text,
                "reseat the drive, or try another slot or cable",
            );
        }
        if drive.counts_io == Some(false) {
            let text = format!(
                "the kernel does not count I/O of {}: nothing confirms",
                drive.name
            );
            let advice = format!("echo 1 > /sys/block/{}/queue/iostats", drive.name);
            findings.note("no-counters", text, advice);
        }
    }
}
