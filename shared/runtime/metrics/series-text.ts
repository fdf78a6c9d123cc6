import type { BucketNumbers } from './bucket-counts.ts';
import type { AnyMetric } from './define-metric.ts';

/** Values of the labels of one series, by name. */
export type Labels<Label extends string = string> = Readonly<Record<Label, string | number>>;

/**
 * Lines of the Prometheus text format (exposition format 0.0.4). A page of a thousand destinations has tens of thousands
 * of them, so a line is made in one go; the general way, by lists of labels, takes several times as long.
 */
export function headText({ name, help, kind }: AnyMetric): string {
  return `# HELP ${name} ${escapeBreaks(help)}\n# TYPE ${name} ${kind}`;
}

/** One series of a counter or a gauge. */
export function seriesText(name: string, value: number, labels?: Labels): string {
  const inside = labelsText(labels);
  return inside === '' ? `${name} ${numberText(value)}` : `${name}{${inside}} ${numberText(value)}`;
}

/** The lines of one series of a histogram: rising buckets, the sum and the count. */
export function histogramText(
  name: string,
  bounds: readonly number[],
  numbers: BucketNumbers,
  labels?: Labels,
): readonly string[] {
  const inside = labelsText(labels);
  const [behind, around] = inside === '' ? ['', ''] : [`,${inside}`, `{${inside}}`];
  let count = 0;
  const lines = bounds.map((le, at) => {
    count += numbers[at] ?? 0;
    return `${name}_bucket{le="${le}"${behind}} ${numberText(count)}`;
  });
  count += numbers[bounds.length] ?? 0;
  return [
    ...lines,
    `${name}_bucket{le="+Inf"${behind}} ${numberText(count)}`,
    `${name}_sum${around} ${numberText(numbers[bounds.length + 1] ?? 0)}`,
    `${name}_count${around} ${numberText(count)}`,
  ];
}

function labelsText(labels: Labels | undefined): string {
  let text = '';
  for (const name in labels) {
    text += `${text === '' ? '' : ','}${name}="${escapeLabel(labels[name])}"`;
  }
  return text;
}

const special = /[\\\n"]/;

function escapeLabel(value: string | number | undefined): string {
  const text = String(value);
  return special.test(text) ? escapeBreaks(text).replaceAll('"', String.raw`\"`) : text;
}

function escapeBreaks(text: string): string {
  return text.replaceAll('\\', String.raw`\\`).replaceAll('\n', String.raw`\n`);
}

function numberText(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? '+Inf' : '-Inf';
}
