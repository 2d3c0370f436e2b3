// Gives TypeScript 5 to a program that imports "typescript" for its compiler API, which TypeScript 7 does not have: `node --import` this.
import { registerHooks } from 'node:module'

registerHooks({
  resolve: (specifier, context, next) => next(specifier === 'typescript' ? 'typescript5' : specifier, context),
})
