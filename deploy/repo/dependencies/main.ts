import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { unexplainedAdvisories } from './judge-dependencies.ts';
import type { AuditReport, Explained } from './judge-dependencies.ts';

const explained = JSON.parse(readFileSync('deploy/repo/dependencies/explained.json', 'utf8')) as Explained;
const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], { encoding: 'utf8' });
const report = JSON.parse(stdout === '' ? '{}' : stdout) as AuditReport;
if (report.vulnerabilities === undefined) {
  console.error('the registry does not answer npm audit: advisories were not compared');
  process.exitCode = 2;
} else {
  const problems = unexplainedAdvisories(report, explained);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
