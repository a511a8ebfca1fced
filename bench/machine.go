package bench

import "runtime"

// Machine says where a run took place. Fields that could not be found out are
// empty.
type Machine struct {
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	CPU        string `json:"cpu"`
	Cores      int    `json:"cores"`
	Go         string `json:"go"`
	Filesystem string `json:"filesystem"` // of the folder the stores were in
}

func machine(dir string) Machine {
	return Machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH, CPU: cpuModel(), Cores: runtime.NumCPU(), Go: runtime.Version(),
		Filesystem: filesystem(dir),
	}
}

// volatile reports whether a file system keeps its files in memory, so that a
// sync says nothing about a disk.
func (m Machine) volatile() bool { return m.Filesystem == "tmpfs" || m.Filesystem == "ramfs" }
