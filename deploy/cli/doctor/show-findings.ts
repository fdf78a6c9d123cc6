import { worstLevel } from '../../../shared/doctor/finding.ts';
import type { Finding, Level } from '../../../shared/doctor/finding.ts';

const marks: Readonly<Record<Level, string>> = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' };
const aboutColumns = 20;

/** One line per finding, with its advice below it, and a summary line. */
export function showFindings(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ level, about, detail, advice }) => [
    `${marks[level]}  ${about.padEnd(aboutColumns)}  ${detail}`,
    ...(advice === undefined ? [] : [`      ${''.padEnd(aboutColumns)}  → ${advice}`]),
  ]);
  const count = (level: Level): number => findings.filter((finding) => finding.level === level).length;
  const total = `${count('ok')} ok, ${count('warn')} to check, ${count('fail')} broken`;
  return [...lines, '', total, ''].join('\n');
}

/** Findings as JSON, for programs. */
export function findingsJson(findings: readonly Finding[]): string {
  return `${JSON.stringify({ level: worstLevel(findings), findings }, null, 2)}\n`;
}

/** 0: healthy, 1: warnings, 2: errors. */
export function exitCodeOf(findings: readonly Finding[]): number {
  return { ok: 0, warn: 1, fail: 2 }[worstLevel(findings)];
}
