// Stands in a query for a value that its caller gives.
export class Placeholder {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}
