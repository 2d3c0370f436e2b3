#!/usr/bin/env node
// Starts the command line over HTTP. This is JavaScript without new syntax, so that an old Node can run it and print which version is needed.
import { readFileSync } from 'node:fs'

if (Number(process.versions.node.split('.')[0]) < 20) {
  process.stderr.write(`roomkeeper-cli needs Node 20 or newer; this is ${process.version}.\n`)
  process.exit(1)
}

const { version, commit } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
// In the package, the bundle is in dist/.
const bundle = new URL('../dist/main.js', import.meta.url).href
const { main } = await import(bundle)
await main(commit === undefined ? version : `${version}+${commit}`)
