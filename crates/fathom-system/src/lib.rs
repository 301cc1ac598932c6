//! Describes the machine, resolves targets and witnesses what the devices did.
