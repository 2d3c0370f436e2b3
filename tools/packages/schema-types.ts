// Writes TypeScript types for the shapes of the contract, so that a package needs no schema library to have types.

/** The part of JSON Schema that the contract uses. */
export interface ShapeSchema {
  readonly title?: string
  readonly description?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly ShapeSchema[]
  readonly items?: ShapeSchema
  readonly properties?: Readonly<Record<string, ShapeSchema>>
  readonly patternProperties?: Readonly<Record<string, ShapeSchema>>
  readonly required?: readonly string[]
}

/** Collects the interfaces of shapes that have a title; every other shape is written where it is used. */
export class ShapeTypes {
  readonly #interfaces = new Map<string, { text: string; schema: string }>()

  /** Returns the type of a shape as TypeScript text. */
  typeOf(shape: ShapeSchema): string {
    const { title, type, properties, patternProperties, items, anyOf } = shape
    if (title && properties) return this.#interfaceOf(title, shape)
    if (anyOf) return anyOf.map((one) => this.typeOf(one)).join(' | ')
    if ('const' in shape) return JSON.stringify(shape.const)
    if (shape.enum) return shape.enum.map((value) => JSON.stringify(value)).join(' | ')
    if (items) return `Array<${this.typeOf(items)}>`
    if (properties) return this.fieldsOf(properties, shape.required ?? [])
    const [values] = Object.values(patternProperties ?? {})
    if (values) return `Record<string, ${this.typeOf(values)}>`
    const names = typeof type === 'string' ? [type] : (type ?? ['unknown'])
    return names.map(primitiveOf).join(' | ')
  }

  /** Returns an object type with a comment for each field. */
  fieldsOf(properties: Readonly<Record<string, ShapeSchema>>, required: readonly string[]): string {
    const fields = Object.entries(properties).map(([name, shape]) => {
      const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
      return `${commentOf(shape)}${key}${required.includes(name) ? '' : '?'}: ${this.typeOf(shape)}`
    })
    return fields.length === 0 ? 'Record<never, never>' : `{\n${fields.map(indent).join('\n')}\n}`
  }

  /** Returns the declarations of all interfaces that were used so far. */
  declarations(): string {
    return [...this.#interfaces.values()].map(({ text }) => text).join('\n')
  }

  #interfaceOf(title: string, shape: ShapeSchema): string {
    const bare = title.replace(/^webpage(?=[A-Z])/, '')
    const name = bare.charAt(0).toUpperCase() + bare.slice(1)
    // A description says what the shape is for at one place, so it does not distinguish shapes.
    const schema = JSON.stringify({ ...shape, description: undefined })
    const known = this.#interfaces.get(name)
    if (known && known.schema !== schema) throw new Error(`Two different shapes have the title ${title}. Rename one.`)
    if (!known) {
      const entry = { text: '', schema }
      this.#interfaces.set(name, entry)
      entry.text = `export interface ${name} ${this.fieldsOf(shape.properties ?? {}, shape.required ?? []).replace(/^Record.*/, '{}')}\n`
    }
    return name
  }
}

function primitiveOf(name: string): string {
  if (name === 'integer') return 'number'
  if (name === 'object') return 'Record<string, unknown>'
  return name
}

const commentOf = ({ description }: ShapeSchema): string =>
  description ? `/** ${description.replaceAll('*/', '*\\/').replaceAll('\n', ' ')} */\n` : ''

/** Moves every line of a text two spaces to the right. */
export const indent = (text: string): string =>
  text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n')
