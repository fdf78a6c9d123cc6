import type { Difference } from './compare-members.ts';
import type { Comparison } from './compare-recording.ts';
import type { KindSummary } from './comparison-summary.ts';
import type { Recording } from './read-recordings.ts';

const valueCharactersMax = 120;
const membersShown = 10;

/** A recording whose payload differs, with each differing member; empty if it does not differ. */
export function showRecording(
  line: number,
  recording: Recording,
  { verdict, differences, reason }: Comparison,
): string {
  if (verdict === 'same') return '';
  const head = `line ${line}  ${recording.kind}  ${recording.name ?? nameOf(recording.event)}`;
  if (verdict === 'only-there') return `${head}: sent there only (${reason})\n`;
  if (verdict === 'only-here') return `${head}: sent here only\n`;
  return `${head}\n${differences.map((difference) => `  ${showDifference(difference)}\n`).join('')}`;
}

function nameOf({ type, event }: Recording['event']): string {
  const name = typeof event === 'string' ? event : type;
  return typeof name === 'string' ? name : 'event';
}

function showDifference(difference: Difference): string {
  const path = difference.path === '' ? '(the payload)' : difference.path;
  switch (difference.kind) {
    case 'missing':
      return `missing      ${path}: there ${show(difference.theirs)}`;
    case 'extra':
      return `extra        ${path}: here ${show(difference.ours)}`;
    case 'other value':
      return `other value  ${path}: there ${show(difference.theirs)}, here ${show(difference.ours)}`;
  }
}

function show(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > valueCharactersMax ? `${text.slice(0, valueCharactersMax)}…` : text;
}

/** The numbers of recordings by kind and verdict, and the members that differ most often. */
export function showSummary(kinds: readonly KindSummary[]): string {
  return kinds.map(showKind).join('');
}

function showKind(summary: KindSummary): string {
  const { kind, members, otherDifferences } = summary;
  const counts = [
    `${summary.same} the same`,
    `${summary.differs} differ`,
    ...(summary['only-there'] === 0 ? [] : [`${summary['only-there']} sent there only`]),
    ...(summary['only-here'] === 0 ? [] : [`${summary['only-here']} sent here only`]),
  ];
  const shown = members.slice(0, membersShown).map((one) => `  ${one.count} × ${one.kind} ${one.path}\n`);
  const others = members.slice(membersShown).reduce((sum, { count }) => sum + count, otherDifferences);
  return `${kind}: ${counts.join(', ')}\n${shown.join('')}${others === 0 ? '' : `  ${others} × other members\n`}`;
}
