// Reduces the table of operations to what the client needs to call them, as a plugin for bundles.
import type { Plugin } from 'vite'
import type { Operation } from '../src/contract/operation.ts'
import { operationList } from '../src/contract/operations.ts'

/** The client needs to know how an operation is called, and the plan of an import who may change something, and the audit page the kinds of changes. Its shapes and examples would be a third of the console's first load. */
export const bareOperations: Plugin = {
  name: 'bare-operations',
  load(file) {
    if (!file.endsWith('/src/contract/operations.ts')) return undefined
    const bare = Object.fromEntries(operationList.map((operation) => [operation.id, bareOf(operation)]))
    return `export const operations = ${JSON.stringify(bare)}
      export const operationIds = Object.keys(operations)`
  },
}

/** Calls whose result is not used are left out: shapes that are declared and not used. */
export const pureShapes = { manualPureFunctions: ['Type', 'Shape', 'OneOf', 'Int32'] }

const bareOf = (operation: Operation) => {
  const { method, path, query, body, download, stream, scope, operate, manage, everywhere, audit } = operation
  return {
    method,
    path,
    ...(method !== 'GET' && { scope, operate, manage, everywhere }),
    ...(query && {
      query: Object.fromEntries(
        Object.entries(query).map(([name, shape]) => [name, { format: (shape as { format?: string }).format }]),
      ),
    }),
    ...(body && { body: true }),
    ...(download && { download }),
    ...(stream && { stream }),
    ...(audit && { audit: { type: audit.type, undoType: audit.undoType } }),
  }
}
