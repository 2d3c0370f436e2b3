// Preloaded into a server with --import: measures the longest turn of its event loop, prints it on SIGUSR2 and starts again.
const readTimes = () => ({ clockMs: performance.now(), cpu: process.threadCpuUsage() })
const zero = { clockMs: 0, cpuMs: 0 }

let previous = readTimes()
let longest = zero
let isStopping = false

/** Runs in every turn without a pause, so two calls enclose one turn, garbage collection included. */
function measureTurn(): void {
  const now = readTimes()
  const cpuMicros = now.cpu.user + now.cpu.system - previous.cpu.user - previous.cpu.system
  longest = {
    clockMs: Math.max(longest.clockMs, now.clockMs - previous.clockMs),
    cpuMs: Math.max(longest.cpuMs, cpuMicros / 1000),
  }
  previous = now
  if (!isStopping) setImmediate(measureTurn)
}

setImmediate(measureTurn)
process.on('SIGUSR2', () => {
  process.stderr.write(`longest turn ${JSON.stringify(longest)}\n`)
  longest = zero
})
process.once('SIGTERM', () => {
  isStopping = true
})
