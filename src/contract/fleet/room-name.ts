// Names rooms in texts. Names of rooms repeat, so the location follows.

/** "Coral (Boston Seaport)". */
export const placedRoomName = (name: string, location: string | undefined | null): string =>
  location === undefined || location === null ? name : `${name} (${location})`

/** "Coral, Fjord (Boston Seaport)" for rooms of one location, or "Coral (Boston Seaport), Fjord (Atlanta)". */
export function placedRoomNames(
  rooms: readonly { readonly name: string; readonly location: string | undefined }[],
): string {
  const [first] = rooms
  const isOnePlace = rooms.every(({ location }) => location === first?.location)
  if (isOnePlace) return placedRoomName(rooms.map(({ name }) => name).join(', '), first?.location)
  return rooms.map(({ name, location }) => placedRoomName(name, location)).join(', ')
}
