// A file system of a few megabytes that a test can fill to the last byte.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished, type TestContext } from 'vitest'

/** Only programs that are started with `starter` see the disk, at the same path. */
export interface SmallDisk {
  readonly starter: readonly string[]
  fill(): void
  free(): void
}

const blockBytes = 4096
/** Prints why not; a mount needs a user namespace, which some containers forbid. */
const inNamespace = ['unshare', '--user', '--map-root-user', '--mount', '--']

/**
 * Mounts a tmpfs at the folder, in a namespace that ends with the test, even if the test is killed. Where the machine does not allow
 * that, the test is skipped and says why.
 */
export async function mountSmallDisk(context: TestContext, folder: string, megabytes: number): Promise<SmallDisk> {
  const [command = '', ...args] = inNamespace
  const mount = ['mount', '-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', folder]
  mkdirSync(folder, { recursive: true })
  try {
    execFileSync(command, [...args, ...mount], { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' })
  } catch (error) {
    context.skip(
      `a full disk was not tested, because this machine does not let the tests mount one: ${(error as Error).message}`,
    )
  }
  // The namespace lives as long as a process in it: cat ends when this process does.
  const keeper = spawn(command, [...args, 'sh', '-c', '"$@" && echo mounted && exec cat', 'sh', ...mount])
  onTestFinished(() => end(keeper))
  await once(keeper.stdout, 'data')
  const fullFile = join('/proc', `${keeper.pid}`, 'root', folder, 'everything-else')
  return {
    starter: ['nsenter', '--target', `${keeper.pid}`, '--user', '--mount', '--preserve-credentials', '--'],
    fill() {
      try {
        for (;;) appendFileSync(fullFile, Buffer.alloc(blockBytes))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    },
    free: () => rmSync(fullFile),
  }
}

async function end(keeper: ChildProcess): Promise<void> {
  keeper.stdin?.end()
  if (keeper.exitCode === null) await once(keeper, 'exit')
}
