// Where the focus goes when what had it is gone: to the title of the page, not to the very top.

/** A dialog gives the focus back to the button that opened it, unless that was deleted along with its row. */
export function keepFocus(): void {
  if (document.activeElement === document.body) document.querySelector<HTMLElement>('main h1')?.focus()
}
