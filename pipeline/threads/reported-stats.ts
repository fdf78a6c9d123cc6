type Stats = Readonly<Record<string, number>>;

/** What an actor has reported last: of a thousand actors most are idle, and have nothing new to tell. */
export class ReportedStats {
  /** In the order of their names, which is always the same; none until something has been reported. */
  #numbers: readonly number[] = [];

  /** Whether `stats` differ from those reported last; they then count as reported. */
  take(stats: Stats): boolean {
    if (this.#isSame(stats)) return false;
    this.#numbers = Object.values(stats);
    return true;
  }

  #isSame(stats: Stats): boolean {
    let index = 0;
    for (const name in stats) {
      if (stats[name] !== this.#numbers[index]) return false;
      index += 1;
    }
    return index === this.#numbers.length;
  }
}
