// The only script of the vault page. Its worker runs this file too, so one hash covers everything that sees a key.
export {}

if (typeof document === 'undefined') void import('./screens/vault/worker.ts').then(({ startWorker }) => startWorker())
else void import('./screens/vault/page.tsx').then(({ startPage }) => startPage())
