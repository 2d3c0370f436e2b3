// Runs a bundler build that fails on every warning: a bundle with an undefined import is broken, though the bundler only warns.

/**
 * @param {typeof import('vite')} vite
 * @param {import('vite').InlineConfig} config
 */
export async function strictBuild(vite, config) {
  const logger = vite.createLogger(config.logLevel)
  /** @type {string[]} */
  const warnings = []
  /** @param {string} text */
  const collect = (text) => void warnings.push(text)
  await vite.build({ ...config, customLogger: { ...logger, warn: collect, warnOnce: collect } })
  if (warnings.length > 0) throw new Error(`The bundler has warnings, which fail the build:\n${warnings.join('\n')}`)
}
