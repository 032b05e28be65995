// Adds to the pages of the documentation: theme, remembered language, copying, results while typing, and requests from the reference.
const store = (kind, name, value) => {
  try {
    if (value !== undefined) window[kind].setItem(name, value)
    return window[kind].getItem(name)
  } catch {
    // The browser keeps no data for this site.
    return null
  }
}
const setTheme = (theme) => {
  if (theme) document.documentElement.dataset.theme = theme
}
setTheme(store('localStorage', 'callsign-docs-theme'))

const create = (tag, properties, ...children) => {
  const element = Object.assign(document.createElement(tag), properties)
  element.append(...children)
  return element
}

function prepareTheme() {
  const button = document.querySelector('.theme')
  button.hidden = false
  button.addEventListener('click', () => {
    const current = document.documentElement.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')
    const next = current === 'dark' ? 'light' : 'dark'
    store('localStorage', 'callsign-docs-theme', next)
    setTheme(next)
  })
}

function prepareLanguages() {
  const radios = [...document.querySelectorAll('.languages input')]
  const kept = radios.find(({ id }) => id === store('localStorage', 'callsign-docs-language'))
  if (kept) kept.checked = true
  for (const radio of radios) radio.addEventListener('change', () => store('localStorage', 'callsign-docs-language', radio.id))
  // A change of language changes the height of the samples above. The clicked one stays where it is.
  for (const label of document.querySelectorAll('figcaption label')) {
    label.addEventListener('click', () => {
      const before = label.getBoundingClientRect().top
      requestAnimationFrame(() => window.scrollBy(0, label.getBoundingClientRect().top - before))
    })
  }
}

function prepareCopying() {
  if (!navigator.clipboard) return
  for (const figure of document.querySelectorAll('figure.code')) {
    const button = create('button', { type: 'button', className: 'copy', textContent: 'Copy' })
    button.addEventListener('click', async () => {
      const shown = [...figure.querySelectorAll('pre')].find((pre) => pre.checkVisibility())
      await navigator.clipboard.writeText(shown?.textContent ?? '')
      button.textContent = 'Copied'
      setTimeout(() => {
        button.textContent = 'Copy'
      }, 1500)
    })
    figure.append(button)
  }
}

const placeLink = ({ title, about, page, anchor }) =>
  create(
    'a',
    { href: `/docs${page === '' ? '' : `/${page}`}${anchor === '' ? '' : `#${anchor}`}`, role: 'option' },
    title,
    create('small', { textContent: about }),
  )

function prepareSearch() {
  const input = document.querySelector('header input[type="search"]')
  if (!input) return
  const list = document.querySelector('.found')
  let newest = 0
  const select = (link) => {
    for (const one of list.children) one.setAttribute('aria-selected', String(one === link))
    link?.scrollIntoView({ block: 'nearest' })
  }
  const close = () => {
    list.hidden = true
    list.replaceChildren()
  }
  input.addEventListener('input', async () => {
    newest += 1
    const request = newest
    if (input.value.trim() === '') return close()
    const response = await fetch(`/docs/search.json?q=${encodeURIComponent(input.value)}`, { credentials: 'omit' })
    if (!response.ok) return
    const { data } = await response.json()
    if (request !== newest) return
    list.replaceChildren(...data.slice(0, 12).map(placeLink))
    list.hidden = data.length === 0
  })
  input.addEventListener('keydown', (event) => {
    const links = [...list.children]
    const place = links.findIndex((link) => link.getAttribute('aria-selected') === 'true')
    if (event.key === 'ArrowDown') select(links[Math.min(place + 1, links.length - 1)])
    else if (event.key === 'ArrowUp') select(links[place - 1])
    else if (event.key === 'Enter' && place >= 0) links[place].click()
    else if (event.key === 'Escape') close()
    else return
    event.preventDefault()
  })
  document.addEventListener('click', (event) => {
    if (!list.parentElement.contains(event.target)) close()
  })
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.target.matches('input, textarea')) return
    event.preventDefault()
    input.focus()
  })
}

const shownCharactersMax = 100_000

/** The request of a form. Path parameters cannot leave their segment. */
function readRequest(form, key) {
  let path = form.dataset.path
  const query = new URLSearchParams()
  const headers = { authorization: `Bearer ${key}` }
  for (const { name, value, dataset } of form.querySelectorAll('input[data-in]')) {
    if (dataset.in === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value))
    else if (value === '') continue
    else if (dataset.in === 'query') query.append(name, value)
    else headers[name] = value
  }
  const body = form.querySelector('textarea')?.value
  if (body) headers['content-type'] = 'application/json'
  const address = query.size > 0 ? `${path}?${query}` : path
  return [address, { method: form.dataset.method, headers, body, credentials: 'omit', cache: 'no-store', redirect: 'error' }]
}

const readable = (text, type) => (type.startsWith('application/json') ? JSON.stringify(JSON.parse(text), null, 2) : text)

async function send(form, key) {
  const output = form.querySelector('output')
  const started = performance.now()
  try {
    const response = await fetch(...readRequest(form, key))
    const text = await response.text()
    const line = `${response.status} ${response.statusText} in ${Math.round(performance.now() - started)} ms`
    const shown = readable(text, response.headers.get('content-type') ?? '').slice(0, shownCharactersMax)
    output.replaceChildren(create('p', { textContent: line }), ...(shown === '' ? [] : [create('pre', { textContent: shown })]))
  } catch (error) {
    output.replaceChildren(create('p', { textContent: `The request failed: ${error.message}` }))
  }
}

function prepareRequests() {
  const field = document.querySelector('#try-key')
  if (!field || !('server' in document.documentElement.dataset)) return
  // The storage of a session ends with its tab.
  field.value = store('sessionStorage', 'callsign-docs-key') ?? ''
  field.addEventListener('input', () => store('sessionStorage', 'callsign-docs-key', field.value.trim()))
  field.closest('.key').hidden = false
  for (const details of document.querySelectorAll('.try')) {
    details.hidden = false
    details.querySelector('form').addEventListener('submit', (event) => {
      event.preventDefault()
      if (field.value.trim() === '') return field.focus()
      void send(event.target, field.value.trim())
    })
  }
}

/** Scrolls the navigation to the page that is shown, without moving the page. */
function showPlace() {
  const navigation = document.querySelector('nav')
  const link = navigation.querySelector('[aria-current]')
  if (link) navigation.scrollTop = link.offsetTop - navigation.clientHeight / 2
}

document.addEventListener('DOMContentLoaded', () => {
  for (const prepare of [prepareTheme, prepareLanguages, prepareCopying, prepareSearch, prepareRequests, showPlace]) prepare()
})
