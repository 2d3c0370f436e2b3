#!/usr/bin/env -S node --max-semi-space-size=8
// Starts Roomkeeper. This is JavaScript without new syntax, so that an old Node can run it and print which version is needed.
// The option bounds the memory for new objects: by default V8 lets it grow to 64 MiB during the start and rarely gives it back.
import { existsSync } from 'node:fs'
import * as module from 'node:module'
import { fileURLToPath } from 'node:url'

const major = Number(process.versions.node.split('.')[0])
if (major < 24) {
  process.stderr.write(
    `Roomkeeper needs Node 24 or newer; this is ${process.version}. In a checkout, "npm ci" brings it (as a dev dependency), and "npm start" and "npm run roomkeeper" use it.\n`,
  )
  process.exit(1)
}

// Compiled code is cached, which halves the time of the next start. The cache lies beside the code, so only a user who could
// change the code can write to it; if the process cannot write there, nothing is cached.
module.enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/roomkeeper', import.meta.url)))

// A checkout has the sources, which Node runs directly. A package has the compiled program instead, which loads with less CPU.
const source = new URL('../src/main.ts', import.meta.url)
await import(existsSync(source) ? source.href : '../dist/program/main.js')
