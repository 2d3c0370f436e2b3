// How the console is built, and served while somebody works on it: `npm run dev` beside a server on port 8080.
import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import type { Operation } from './src/contract/operation.ts'
import { operationList } from './src/contract/operations.ts'

const server = 'http://127.0.0.1:8080'

/** The client needs to know how an operation is called. Its shapes and examples would be a third of the first load. */
const bareOperations: Plugin = {
  name: 'bare-operations',
  load(file) {
    if (!file.endsWith('/src/contract/operations.ts')) return undefined
    const bare = Object.fromEntries(operationList.map((operation) => [operation.id, bareOf(operation)]))
    return `export const operations = ${JSON.stringify(bare)}
      export const operationIds = Object.keys(operations)`
  },
}

const bareOf = ({ method, path, query, body, download, stream }: Operation) => ({
  method,
  path,
  ...(query && {
    query: Object.fromEntries(
      Object.entries(query).map(([name, shape]) => [name, { format: (shape as { format?: string }).format }]),
    ),
  }),
  ...(body && { body: true }),
  ...(download && { download }),
  ...(stream && { stream }),
})

export default defineConfig({
  root: join(import.meta.dirname, 'src/console'),
  // Files refer to each other by relative addresses, so that a proxy may serve the console under any path.
  base: './',
  plugins: [bareOperations, react()],
  build: {
    emptyOutDir: true,
    target: 'es2023',
    // Inlined files would be data: addresses, which the Content-Security-Policy refuses for scripts and fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // React alone is half of it; test/house/console-size.test.ts holds the bound that counts.
    chunkSizeWarningLimit: 900,
    // Shapes that nobody reads are left out.
    rolldownOptions: { treeshake: { manualPureFunctions: ['Type', 'Shape', 'OneOf', 'Int32'] } },
  },
  server: { host: '127.0.0.1', proxy: { '/v1': server, '/console/session': server } },
})
