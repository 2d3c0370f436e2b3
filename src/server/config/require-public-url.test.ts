// A second node needs the address that leads to all nodes.
import { expect, test } from 'vitest'
import { requirePublicUrl } from './require-public-url.ts'

test('a node without --public-url is refused beside others, which are named, and not alone', () => {
  const others = [{ name: 'a:8080' }, { name: 'b:8080' }]
  expect(() => requirePublicUrl({}, others)).toThrow(
    /^Other nodes serve this database \(a:8080 and b:8080\), .* Set --public-url/,
  )
  expect(() => requirePublicUrl({}, [])).not.toThrow()
  expect(() => requirePublicUrl({ publicUrl: 'https://rooms.example.org' }, others)).not.toThrow()
})
