// Processor time that grows by 1 ms per reading, because tests of processor time fail in instrumented code.
let readings = 0

function readUsage(before?: NodeJS.CpuUsage): NodeJS.CpuUsage {
  readings++
  return { user: readings * 1000 - (before?.user ?? 0), system: 0 }
}

process.cpuUsage = readUsage
process.threadCpuUsage = readUsage
