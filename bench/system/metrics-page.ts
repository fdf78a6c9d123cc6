/** Values of a Prometheus metrics page, summed over the labels of each name. */
export type MetricsPage = { sum(name: string): number };

const linePattern = /^([a-zA-Z_:][\w:]*)(?:\{.*\})? (\S+)/;
const deadlineMs = 5_000;

export function parseMetrics(text: string): MetricsPage {
  const sums = new Map<string, number>();
  for (const line of text.split('\n')) {
    const match = linePattern.exec(line);
    if (match?.[1] === undefined) continue;
    sums.set(match[1], (sums.get(match[1]) ?? 0) + Number(match[2]));
  }
  return { sum: (name) => sums.get(name) ?? 0 };
}

export async function readMetrics(metricsUrl: string): Promise<MetricsPage> {
  const answer = await fetch(`${metricsUrl}/metrics`, { signal: AbortSignal.timeout(deadlineMs) });
  return parseMetrics(await answer.text());
}
