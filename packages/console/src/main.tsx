// Starts the console in the page.
import { render } from 'preact'
import { App } from './app.tsx'
import './navigation/theme.ts'

const root = document.getElementById('app')
if (root) render(<App />, root)
