// The folder of a gateway: private, whole after a crash, and without the files of devices that are gone.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { FolderError, GatewayFolder } from './folder.ts'

const identity = { endpointId: '5a2f4f3e-8f2c-4f5f-9b0e-3f1f6f0c7a11', credential: 'rkd_secret', connect: [] }

function newFolder(): string {
  const parent = mkdtempSync(join(tmpdir(), 'roomkeeper-gateway-'))
  onTestFinished(() => rmSync(parent, { recursive: true }))
  return join(parent, 'gateway')
}

test('only the owner can read the folder and its files', async () => {
  const path = newFolder()
  const folder = GatewayFolder.open(path)
  await folder.saveOwn({ gateway: 1, serial: 'RKG-1', identity })
  await folder.saveDevice('item-1', { identity })
  const modes = ['.', 'devices', 'gateway.json', 'devices/item-1.json'].map(
    (name) => statSync(join(path, name)).mode & 0o777,
  )
  expect(modes).toEqual([0o700, 0o700, 0o600, 0o600])
})

test('saved files are there after a restart, and a half-written file is not', async () => {
  const path = newFolder()
  const folder = GatewayFolder.open(path)
  await folder.saveOwn({ gateway: 1, serial: 'RKG-1', identity })
  // Writes of one file follow each other, and the last one counts.
  await Promise.all([1, 2, 3].map((revision) => folder.saveDevice('a', { identity, removedRevision: revision })))
  await folder.saveDevice('b', { identity })
  await folder.deleteDevice('b')
  writeFileSync(join(path, 'devices/a.json.tmp'), '{"identi')
  const again = GatewayFolder.open(path)
  expect(again.own?.identity).toEqual(identity)
  expect(again.device('a')).toEqual({ identity, removedRevision: 3 })
  expect(again.deviceIds).toEqual(['a'])
  expect(readdirSync(join(path, 'devices'))).toEqual(['a.json'])
  await again.clear()
  expect(readdirSync(path)).toEqual(['devices', 'sources'])
  expect(readdirSync(join(path, 'devices'))).toEqual([])
})

test('a damaged file is named, and an id that is no file name is refused', async () => {
  const path = newFolder()
  const folder = GatewayFolder.open(path)
  await expect(folder.saveDevice('../../etc/passwd', {})).rejects.toThrow(FolderError)
  await folder.saveDevice('a', { identity })
  writeFileSync(join(path, 'devices/a.json'), readFileSync(join(path, 'devices/a.json'), 'utf8').slice(0, 20))
  expect(() => GatewayFolder.open(path)).toThrow('a.json is damaged')
})
