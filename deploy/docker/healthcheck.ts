import { readFileSync } from 'node:fs';
import { readHealthcheckEnv } from './env.ts';
import { healthUrl } from './health-url.ts';

// Checks the health of this container's service; the argument readyz checks readiness. Exits with 0 if healthy.
const url = healthUrl(readFileSync('/proc/1/cmdline', 'utf8'), process.argv[2] ?? 'livez', readHealthcheckEnv());
if (url !== undefined) {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(4_000) });
    process.stdout.write(await answer.text());
    process.exitCode = answer.ok ? 0 : 1;
  } catch (error) {
    process.stderr.write(`asking ${url}: ${String(error)}\n`);
    process.exitCode = 1;
  }
}
