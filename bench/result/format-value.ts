import type { Unit } from './result.ts';

/** A number as a person reads it, with its unit unless the heading gives the unit. */
export function formatValue(value: number, unit: Unit): string {
  if (!Number.isFinite(value)) return '–';
  switch (unit) {
    case 'per_s':
      return `${grouped(value)}/s`;
    case 'count':
      return grouped(value);
    case 'ratio':
      return value.toFixed(2);
    case 's':
      return `${withDigits(value)} s`;
    case 'ns':
      return value < 10_000 ? `${withDigits(value)} ns` : `${withDigits(value / 1000)} µs`;
    case 'ms':
      return `${withDigits(value)} ms`;
    case 'bytes':
      return formatBytes(value);
  }
}

const grouped = (value: number): string => Math.round(value).toLocaleString('en-US');

function withDigits(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size < 1 ? 3 : size < 10 ? 2 : size < 100 ? 1 : 0);
}

function formatBytes(value: number): string {
  const size = Math.abs(value);
  if (size < 10 * 1024) return `${Math.round(value)} B`;
  if (size < 10 * 1024 ** 2) return `${(value / 1024).toFixed(1)} KiB`;
  return `${(value / 1024 ** 2).toFixed(1)} MiB`;
}
