// The process of its own in which systeminformation runs: it starts other programs and blocks while they run.
import si from 'systeminformation'
import { type SystemAnswer, type SystemRequest, systemCalls } from './calls.ts'

process.on('message', ({ id, call }: SystemRequest) => {
  const answer = (message: SystemAnswer) => void process.send?.(message)
  if (!systemCalls.includes(call)) return answer({ id, error: 'no such call' })
  return void si[call]().then(
    (value) => answer({ id, value }),
    (error: Error) => answer({ id, error: error.message }),
  )
})
