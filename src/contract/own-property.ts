// Reads a property by a name that people chose.

/** A custom field can be called `constructor`, which every object has. Returns undefined if the object has no such property of its own. */
export const ownProperty = <T>(object: Readonly<Record<string, T>> | null | undefined, name: string): T | undefined =>
  object && Object.hasOwn(object, name) ? object[name] : undefined
