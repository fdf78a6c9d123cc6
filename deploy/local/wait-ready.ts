export class NotReadyError extends Error {
  readonly code = 'not_ready';
}

const pollMs = 50;

/** Polls a `/readyz` until it reports ready. Throws NotReadyError with its last answer after `deadlineMs`. */
export async function waitReady(name: string, metricsUrl: string, deadlineMs: number): Promise<void> {
  await poll(deadlineMs, async () => {
    const answer = await ask(`${metricsUrl}/readyz`);
    return answer.ok ? undefined : `${name} is not ready: ${answer.text.trim()}`;
  });
}

/** Polls until `follower` runs the configuration revision that `leader` has published. */
export async function waitRevision(leader: string, follower: string, deadlineMs: number): Promise<void> {
  await poll(deadlineMs, async () => {
    const [published, running] = await Promise.all([readRevision(leader), readRevision(follower)]);
    if (published !== undefined && running !== undefined && running >= published) return undefined;
    return `revision ${running ?? 'none'} runs, ${published ?? 'none'} is published`;
  });
}

/** The value of `sluice_config_revision` in a metrics page. */
async function readRevision(metricsUrl: string): Promise<number | undefined> {
  const { text } = await ask(`${metricsUrl}/metrics`);
  const match = /^sluice_config_revision(?:\{[^}]*\})? (\d+)/m.exec(text);
  return match === null ? undefined : Number(match[1]);
}

async function poll(deadlineMs: number, attempt: () => Promise<string | undefined>): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const problem = await attempt();
    if (problem === undefined) return;
    if (performance.now() > deadline) throw new NotReadyError(`waiting for readiness: ${problem}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

async function ask(url: string): Promise<{ readonly ok: boolean; readonly text: string }> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    return { ok: answer.ok, text: await answer.text() };
  } catch {
    return { ok: false, text: 'no answer yet' };
  }
}
