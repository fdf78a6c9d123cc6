import { servicesOf } from './stack.ts';
import type { FaultStack } from './stack.ts';

const counting = /^(sluice_\w*(?:lost|missing|damaged)\w*)(?:\{.*\})? (\S+)$/gm;
const askMs = 5_000;

/** The name of a metric by which some service says that stored messages are gone; undefined: none does. */
export async function findAlarm(stack: FaultStack): Promise<string | undefined> {
  const pages = await Promise.all(servicesOf(stack).map(({ metricsUrl }) => readPage(metricsUrl)));
  const raised = pages.flatMap((page) => [...page.matchAll(counting)]).find(([, , value]) => Number(value) > 0);
  return raised?.[1];
}

function readPage(metricsUrl: string): Promise<string> {
  return fetch(`${metricsUrl}/metrics`, { signal: AbortSignal.timeout(askMs) }).then(
    (answer) => answer.text(),
    () => '',
  );
}
