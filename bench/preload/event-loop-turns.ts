// Preloaded into a server with --import: how long a turn of its event loop took at most. Told, and forgotten, on SIGUSR2.
const present = () => ({ clock: performance.now(), cpu: process.threadCpuUsage() })
const none = { clock: 0, cpu: 0 }

let before = present()
let longest = none
let isOver = false

/** Turns without a pause: what lies between two of these is one stretch of work, collecting garbage included. */
function turn(): void {
  const now = present()
  longest = {
    clock: Math.max(longest.clock, now.clock - before.clock),
    cpu: Math.max(longest.cpu, (now.cpu.user + now.cpu.system - before.cpu.user - before.cpu.system) / 1000),
  }
  before = now
  if (!isOver) setImmediate(turn)
}

setImmediate(turn)
process.on('SIGUSR2', () => {
  process.stderr.write(`longest turn ${JSON.stringify(longest)}\n`)
  longest = none
})
process.once('SIGTERM', () => {
  isOver = true
})
