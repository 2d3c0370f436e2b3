// Says in words why a file cannot be read or written, and what to do.

const problems: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder. Check the path.',
  ENOTDIR: 'a part of the path is not a folder. Check the path.',
  EISDIR: 'it is a folder. Name a file.',
  EACCES: 'permission denied. Check its owner and its mode.',
  EPERM: 'permission denied. Check its owner and its mode.',
  EROFS: 'the file system is read-only. Name another place.',
  ENOSPC: 'the disk is full. Make space, or name another place.',
}

export function fileProblem(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return problems[code ?? ''] ?? `${code ?? message}.`
}
