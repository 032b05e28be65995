// Loads a part of the console's code on demand, and the whole page again when an upgrade of the server has replaced that code.

/** Resolves with the module. If its file is gone because the server runs another build, the page is loaded again and the promise stays open. */
export async function loadCode<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (error) {
    if (!(await isReplaced().catch(() => false))) throw error
    location.reload()
    return new Promise(() => {})
  }
}

/** True when the server's page starts another script than this one. The page that is loaded then has the new script, so it reloads once. */
async function isReplaced(): Promise<boolean> {
  const own = document.querySelector('script[type="module"][src]')?.getAttribute('src')
  const response = await fetch('/console/', { cache: 'no-store' })
  return typeof own === 'string' && response.ok && !(await response.text()).includes(own)
}
