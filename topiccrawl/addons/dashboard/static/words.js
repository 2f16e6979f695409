// Everything the page says, in both languages. {0}, {1} ... are filled in.
const WORDS = {
  en: {
    overview: "Overview", harvest: "Harvest rate", speed: "Pages per second", queues: "Queues",
    articles: "Articles", hosts: "Hosts", terms: "Topic terms", chains: "Reprint chains",
    patterns: "URL patterns", nodes: "Nodes and tasks", theme: "Light or dark", other: "中文",
    recent: "last 100 pages", mean: "running mean", pace: "pages/s",
    pages: "Pages", relevant: "On topic", stories: "Articles", time: "Running for", took: "Ran for",
    perSecond: "{0} per second", ofPages: "{0} of all pages", kinds: "{0} articles, {1} lists of articles", reprints: "{0} reprints left out",
    since: "since {0}", meanIs: "mean of the crawl {0}", known: "{0} URLs known", none: "nothing yet",
    prior: "prior", normal: "normal", leased: "leased", crawled: "crawled", error: "error",
    stored: "{0} stored", score: "score", reprintOf: "reprint of {0}", republished: "reprinted × {0}", nPages: "{0} pages", nStories: "{0} articles", nRecords: "{0} records", template: "template", older: "and {0} older ones",
    "harvest@template": "Pages with records", "relevant@template": "With records", "stories@template": "Records", "reprints@template": "new or changed in this run", "worth@template": "Worth",
    sections: "Sections", history: "How the topic changed", days: "{0} d", hours: "{0} h",
    host: "Host", queued: "Queued", fetched: "Pages", worth: "On topic", delay: "Delay", failed: "Failed",
    fetching: "fetching", ready: "ready", waiting: "waiting", robots: "robots.txt", failing: "failing", idle: "idle",
    changed: "changed {0} times", unchanged: "as given", own: "own", learnt: "learnt",
    pause: "Pause", resume: "Resume", speedOf: "Speed", runs: "crawling", ended: "ended", lost: "connection lost",
    news: "news", hub: "hub", open: "open", otherPage: "other", filters: "filters", learns: "learns", judged: "{0} pages judged",
    "why-paused": "Paused by the operator", "why-redis-away": "Redis does not answer",
    "why-store-away": "The database does not answer; articles wait on disk",
    "why-storing": "Articles are being stored", "why-answers": "Servers take long to answer",
    "why-delays": "All hosts are waiting for their delay", "why-failing": "All hosts refuse or fail",
    "why-robots": "robots.txt files are fetched first", "why-elsewhere": "Other nodes have the queued URLs",
    "why-empty": "Nothing is queued", "why-retries": "What is queued is tried again later",
    "why-watching": "Nothing is due",
    "why-storage_error": "It ended since nothing can be stored; the log says what (a full disk?). The same command goes on where it was",
    "why-store-failed": "It ended since articles cannot be stored; the log says why. The same command goes on where it was",
    "why-setting_error": "It could not begin: a setting cannot be used; the log says why",
    "why-state_error": "It ended since its stored state cannot be used; the log says why", "why-start_error": "It could not begin; the log says why",
    "why-seeds_unreachable": "It ended since no page could be fetched: seeds, network?", "why-discovery_failed": "It ended since nowhere to begin was found",
    "why-dead": "No word since {0}: the process was killed or cannot write. Its log's last lines say more; the same command goes on where it was",
    quiet: "Nothing for {0} s", task: "task", tasks: "Tasks", ago: "{0} ago", strategy: "strategy", metrics: "metrics",
    shards: "{0} of {1} sites", noPatterns: "None learnt: TOPICCRAWL_NEWS_FILTER is off", noChains: "No reprint yet",
    filed: "{0} left out by patterns", choose: "Which crawl", reasons: "Errors by reason",
    "task-waiting": "waiting", "task-running": "running", "task-paused": "paused", "task-cancelled": "cancelled", "task-finished": "finished", "task-failed": "failed", dead: "no word", nodePages: "{0} pages · harvest {1}",
  },
  zh: {
    overview: "概览", harvest: "收获率", speed: "每秒页数", queues: "队列",
    articles: "文章", hosts: "站点主机", terms: "主题词", chains: "转载链",
    patterns: "网址模式", nodes: "节点与任务", theme: "浅色或深色", other: "EN",
    recent: "最近 100 页", mean: "累计均值", pace: "页/秒",
    pages: "网页", relevant: "切题", stories: "文章", time: "已运行", took: "运行了",
    perSecond: "每秒 {0} 页", ofPages: "占全部网页 {0}", kinds: "文章 {0}，文章列表 {1}", reprints: "另有 {0} 篇转载",
    since: "自 {0}", meanIs: "全程均值 {0}", known: "已知 {0} 个网址", none: "暂无",
    prior: "优先", normal: "普通", leased: "抓取中", crawled: "已抓取", error: "错误",
    stored: "已存 {0} 篇", score: "得分", reprintOf: "转载自 {0}", republished: "转载 {0} 次", nPages: "{0} 页", nStories: "{0} 篇文章", nRecords: "{0} 条记录", template: "模板", older: "另有 {0} 个更早的任务",
    "harvest@template": "有记录的网页", "relevant@template": "有记录", "stories@template": "记录", "reprints@template": "本次新增或有变", "worth@template": "价值",
    sections: "各部分", history: "主题的变化", days: "{0} 天", hours: "{0} 小时",
    host: "主机", queued: "排队", fetched: "网页", worth: "切题", delay: "间隔", failed: "失败",
    fetching: "抓取中", ready: "就绪", waiting: "等待", robots: "robots.txt", failing: "故障", idle: "空闲",
    changed: "已调整 {0} 次", unchanged: "与给定相同", own: "给定", learnt: "学得",
    pause: "暂停", resume: "继续", speedOf: "速度", runs: "抓取中", ended: "已结束", lost: "连接中断",
    news: "新闻", hub: "列表", open: "未定", otherPage: "其他", filters: "过滤中", learns: "学习中", judged: "已判 {0} 页",
    "why-paused": "已由操作员暂停", "why-redis-away": "Redis 没有响应",
    "why-store-away": "数据库没有响应；文章暂存磁盘",
    "why-storing": "正在保存文章", "why-answers": "服务器响应缓慢",
    "why-delays": "所有主机都在等待访问间隔", "why-failing": "所有主机均拒绝或出错",
    "why-robots": "先抓取 robots.txt", "why-elsewhere": "待抓网址在其他节点",
    "why-empty": "队列已空", "why-retries": "待抓网址稍后重试",
    "why-watching": "暂无到期的重访",
    "why-storage_error": "无法存储，抓取已终止；原因见日志（磁盘已满？）。用同一命令可从原处继续",
    "why-store-failed": "文章无法存储，抓取已终止；原因见日志。用同一命令可从原处继续",
    "why-setting_error": "有设置无法使用，未能开始；原因见日志",
    "why-state_error": "已存状态无法使用，抓取已终止；原因见日志", "why-start_error": "未能开始；原因见日志",
    "why-seeds_unreachable": "一个网页也没有取到，抓取已终止：请检查种子与网络", "why-discovery_failed": "没有找到起始网址，抓取已终止",
    "why-dead": "自 {0} 起失联：进程已被终止，或无法写入。日志末尾有更多信息；用同一命令可从原处继续",
    quiet: "已 {0} 秒没有新网页", task: "任务", tasks: "任务", ago: "{0}前", strategy: "策略", metrics: "指标",
    shards: "{1} 个站点已完成 {0} 个", noPatterns: "未学习：TOPICCRAWL_NEWS_FILTER 未开启", noChains: "暂无转载",
    filed: "按模式略去 {0} 条链接", choose: "选择抓取", reasons: "错误原因",
    "task-waiting": "等待中", "task-running": "进行中", "task-paused": "已暂停", "task-cancelled": "已取消", "task-finished": "已完成", "task-failed": "失败", dead: "失联", nodePages: "{0} 页 · 收获率 {1}",
  },
};
const asked = localStorage.getItem("language") || navigator.language || "en";
export let language = asked.toLowerCase().startsWith("zh") ? "zh" : "en";

let kind = "";
// What is crawled for: a template's words are others. Whether that changed.
export function about(spider) {
  const before = kind;
  kind = spider === "template" ? "@template" : "";
  return kind !== before;
}
export function t(key, ...values) {
  const text = WORDS[language][key + kind] ?? WORDS[language][key] ?? key;
  return text.replace(/\{(\d)\}/g, (_, n) => values[n]);
}
export function say(key) { return WORDS[language][key]; }
export function turn() {
  language = language === "en" ? "zh" : "en";
  localStorage.setItem("language", language);
}
export const number = (n) => new Intl.NumberFormat(language).format(n);
export const percent = (x, digits = 0) => `${(100 * x).toFixed(digits)}%`;
export function clock(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (n) => String(n).padStart(2, "0");
  if (h >= 48) return `${t("days", Math.floor(h / 24))} ${two(h % 24)}:${two(m)}`;
  return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}
// On the axis of time: 5:00, 3 h, 2 d 12 h.
export function tick(seconds) {
  const [d, h, rest] = [Math.floor(seconds / 86400), Math.floor(seconds / 3600) % 24, seconds % 3600];
  if (rest || (!d && !h)) return clock(seconds);
  return [d ? t("days", d) : "", h ? t("hours", h) : ""].filter(Boolean).join(" ");
}
const TIME = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
export function moment(at) {
  const then = new Date(1000 * at), recent = Date.now() / 1000 - at < 43200;
  return recent ? then.toLocaleTimeString(language, TIME) : then.toLocaleString(language, { month: "short", day: "numeric", ...TIME });
}
// A date as a site wrote it, without what goes without saying.
export function day(published) {
  const text = published.slice(0, 16).replace("T", " ");
  return text.startsWith(`${new Date().getFullYear()}-`) ? text.slice(5) : text;
}
