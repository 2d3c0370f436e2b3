// The calls of systeminformation that are made. None takes an argument: its security notes are about texts that reach a shell.
import type { Systeminformation } from 'systeminformation'

/** These stall for up to a second on a busy machine, and their answers rarely change. */
export const hourlyCalls = ['system', 'osInfo', 'bios', 'cpu'] as const
export const minuteCalls = ['mem', 'cpuTemperature', 'fsSize'] as const
export const systemCalls = [...hourlyCalls, ...minuteCalls]
export type SystemCall = (typeof systemCalls)[number]

interface Answers {
  readonly system: Systeminformation.SystemData
  readonly osInfo: Systeminformation.OsData
  readonly bios: Systeminformation.BiosData
  readonly cpu: Systeminformation.CpuData
  readonly mem: Systeminformation.MemData
  readonly cpuTemperature: Systeminformation.CpuTemperatureData
  readonly fsSize: Systeminformation.FsSizeData[]
}
/** A call that failed or hung is absent. */
export type SystemFacts = { readonly [C in SystemCall]?: Answers[C] }

export interface SystemRequest {
  readonly id: number
  readonly call: SystemCall
}
export interface SystemAnswer {
  readonly id: number
  readonly value?: unknown
  readonly error?: string
}
