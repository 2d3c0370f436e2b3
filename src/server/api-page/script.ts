// Holds the script of the page: filter, folding menu, current position, copy buttons. The page is readable without it.

/** The script runs between navigation and content, so that the menu is folded before the page is painted. */
export const script = `
const $ = (id) => document.getElementById(id)
const menu = $('menu'), filter = $('filter'), found = $('found')
const wide = matchMedia('(min-width: 60rem)')
const fold = () => { menu.open = wide.matches }
document.documentElement.classList.add('js')
wide.addEventListener('change', fold)
fold()

const links = [...menu.querySelectorAll('[data-operations] li a')]
const groups = [...menu.querySelectorAll('[data-operations]')]
const places = [...menu.querySelectorAll('li a, a[href="#schemas"]')]
const targetOf = (link) => $(link.hash.slice(1))
const textOf = (link) => link.closest('[data-operations]').dataset.operations + ' ' + targetOf(link).querySelector('header').textContent

function show() {
  const words = filter.value.toLowerCase().split(/\\s+/)
  for (const link of links) {
    const text = textOf(link).toLowerCase()
    link.parentElement.hidden = !words.every((word) => text.includes(word))
  }
  for (const group of groups) group.hidden = !group.querySelector('li:not([hidden])')
  for (const rest of menu.querySelectorAll('[data-rest]')) rest.hidden = filter.value.trim() !== ''
  const count = links.filter((link) => !link.parentElement.hidden).length
  found.textContent = filter.value.trim() && count + ' of ' + links.length + ' operations'
}
filter.closest('[hidden]').hidden = false
filter.addEventListener('input', show)
filter.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') { filter.value = ''; show() }
  if (event.key === 'Enter') links.find((link) => !link.parentElement.hidden)?.click()
})
menu.addEventListener('click', (event) => {
  if (!wide.matches && event.target.closest('a')) menu.open = false
})

function mark(link) {
  menu.querySelector('[aria-current]')?.removeAttribute('aria-current')
  link.setAttribute('aria-current', 'true')
  const nav = menu.parentElement, { top, bottom } = link.getBoundingClientRect()
  if (wide.matches && (top < 0 || bottom > nav.clientHeight)) nav.scrollTop += top - nav.clientHeight / 3
}

function copyButton(pre) {
  const button = document.createElement('button')
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    button.textContent = await navigator.clipboard.writeText(pre.textContent).then(() => 'Copied', () => 'Not allowed')
    setTimeout(() => { button.textContent = 'Copy' }, 2000)
  })
  return button
}

addEventListener('DOMContentLoaded', () => {
  $('origin').textContent = new URL('.', location.href).href.replace(/\\/$/, '')
  const watcher = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) if (isIntersecting) mark(places.find((link) => targetOf(link) === target))
  }, { rootMargin: '-10% 0px -85%' })
  for (const link of places) watcher.observe(targetOf(link))
  // Browsers offer the clipboard only to pages over TLS or from localhost.
  if (navigator.clipboard) for (const request of document.querySelectorAll('.request')) request.append(copyButton(request.lastElementChild))
})
`
