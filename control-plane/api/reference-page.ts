import { createHash } from 'node:crypto';
import { referenceScript } from './reference-script.ts';

const style = `
  :root { color-scheme: light dark; --line: #8884; --soft: #8882; font: 15px/1.5 system-ui, sans-serif; }
  body { margin: 0; display: grid; grid-template-columns: 17rem 1fr; min-height: 100vh; }
  nav { border-right: 1px solid var(--line); padding: 1rem; position: sticky; top: 0; height: 100vh; overflow: auto; box-sizing: border-box; }
  nav a { display: block; padding: .1rem 0; color: inherit; text-decoration: none; }
  nav input { width: 100%; box-sizing: border-box; margin: .3rem 0 1rem; }
  main { padding: 1rem 2rem; max-width: 60rem; }
  details { border: 1px solid var(--line); border-radius: 6px; margin: .5rem 0; padding: .5rem .8rem; }
  summary { cursor: pointer; }
  code, pre, textarea, input { font: 13px/1.45 ui-monospace, monospace; }
  pre { background: var(--soft); padding: .6rem; overflow: auto; max-height: 26rem; border-radius: 4px; }
  textarea { width: 100%; min-height: 9rem; box-sizing: border-box; }
  label { display: block; margin: .3rem 0; }
  .method { display: inline-block; min-width: 5rem; font-weight: 600; }
  .muted { opacity: .7; }
  @media (max-width: 50rem) { body { grid-template-columns: 1fr; } nav { position: static; height: auto; } }
`;

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sluice configuration interface</title>
<style>${style}</style>
</head>
<body>
<nav aria-label="Sections">
  <label>API key <input id="key" type="password" autocomplete="off" placeholder="slk_…"></label>
  <div id="sections"></div>
</nav>
<main><h1 id="title">Loading…</h1><p id="about" class="muted"></p><div id="operations"></div></main>
<script>${referenceScript}</script>
</body>
</html>
`;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The reference as one page that loads nothing from elsewhere; the key typed into it stays in the page. */
export const referencePage = {
  html,
  contentSecurityPolicy: [
    "default-src 'none'",
    `script-src ${hashOf(referenceScript)}`,
    `style-src ${hashOf(style)}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
};
