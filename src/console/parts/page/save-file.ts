// Lets the browser save a file that the console created or downloaded.
export function saveFile(content: Blob, name: string): void {
  const address = URL.createObjectURL(content)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  // The browser needs a moment to start reading the file.
  setTimeout(() => URL.revokeObjectURL(address), 1000)
}
