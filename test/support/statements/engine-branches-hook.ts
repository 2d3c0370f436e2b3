// Node loads this before a worker of Vitest starts: modules of the program then note which branches on the engine were taken.
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { noteEngineBranches } from './engine-branches.ts'

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    if (!url.startsWith('file:') || !loaded.source || loaded.format !== 'module-typescript') return loaded
    const text = Buffer.from(loaded.source as Uint8Array).toString()
    const noted = noteEngineBranches(fileURLToPath(url), text)
    return noted === text ? loaded : { ...loaded, source: noted }
  },
})
