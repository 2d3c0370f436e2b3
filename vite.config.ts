// How the console is built, and served while an engineer works on it: `npm run dev` beside a server on port 8080.
import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { bareOperations, pureShapes } from './tools/bare-operations.ts'
import { waitingStyles } from './tools/waiting-styles.ts'

const server = 'http://127.0.0.1:8080'

export default defineConfig({
  root: join(import.meta.dirname, 'src/console'),
  // Files refer to each other by relative addresses, so that a proxy may serve the console under any path.
  base: './',
  plugins: [bareOperations, waitingStyles, react()],
  build: {
    emptyOutDir: true,
    target: 'es2023',
    // Inlined files would be data: addresses, which the Content-Security-Policy refuses for scripts and fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // React alone is half of it; test/house/console-size.test.ts holds the bound that counts.
    chunkSizeWarningLimit: 900,
    rolldownOptions: {
      treeshake: pureShapes,
      // Modules that eleven or more pages or dialogs use go into one file; otherwise each is a request of its own.
      output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 11 }] } },
    },
  },
  server: { host: '127.0.0.1', proxy: { '/v1': server, '/console/': server, '/auth/': server } },
})
