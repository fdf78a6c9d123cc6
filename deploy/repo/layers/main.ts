import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import {
  findCrowdedRoots,
  findLayerViolations,
  findReserved,
  findSpelledBytes,
  findUnusedEdges,
} from './find-layer-violations.ts';
import { findHeavyProcesses, findPastDoors, findUnlistedRooms } from './find-room-violations.ts';
import { doors } from './doors.ts';
import { features, layers, linesMax, reserved, rooms, roots, walls } from './layers.ts';

// Files that git tracks, and new files that it does not ignore.
const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.tsx'], {
  encoding: 'utf8',
});
const paths = listed.split('\n').filter((path) => path !== '' && existsSync(path));
const files = paths.map((path) => ({ path, text: readFileSync(path, 'utf8') }));
const violations = [
  ...findLayerViolations(files, layers, walls, features),
  ...findUnusedEdges(files, features),
  ...findReserved(files, reserved),
  ...findPastDoors(files, doors),
  ...findUnlistedRooms(files, rooms),
  ...findSpelledBytes(files),
  ...findCrowdedRoots(files, roots),
  ...findHeavyProcesses(files, linesMax),
];
for (const violation of violations) console.error(violation);
if (violations.length > 0) process.exitCode = 1;
