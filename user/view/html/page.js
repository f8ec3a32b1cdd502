"use strict";
// What the page does beyond its HTML: draws the ledger over time from the data in #data, explains
// words, sorts and filters tables, zooms flame graphs. It asks for nothing and keeps nothing.
(() => {
const byId = (id) => document.getElementById(id);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const make = (tag, className, text, into) => {
	const element = document.createElement(tag);
	if (className) element.className = className;
	if (text !== undefined) element.textContent = text;
	if (into) into.append(element);
	return element;
};
const data = JSON.parse(byId("data").textContent);
const root = document.documentElement;

// ---- numbers with units ---------------------------------------------------------------------

const scaled = (value, units) => {
	for (const [size, unit] of units)
		if (Math.abs(value) >= size) return `${(value / size).toPrecision(4)} ${unit}`;
	const [size, unit] = units[units.length - 1];
	return `${(value / size).toPrecision(3)} ${unit}`;
};
const nsText = (ns) => ns ? scaled(ns, [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]]) : "0 s";
const bytesText = (n) => n ? scaled(n, [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"],
	[2 ** 10, "KiB"], [1, "B"]]) : "0 B";
const percentText = (share) => share && share < 0.001 ? "<0.1 %" : `${(share * 100).toFixed(1)} %`;

// ---- the tip --------------------------------------------------------------------------------

const tip = make("div", "", "", document.body);
tip.id = "tip";
tip.hidden = true;
const showTip = (text, x, y) => {
	tip.textContent = text;
	tip.hidden = false;
	const box = tip.getBoundingClientRect();
	const left = Math.min(x + 14, innerWidth - box.width - 6);
	const below = y + 18 + box.height < innerHeight;
	tip.style.left = `${Math.max(6, left)}px`;
	tip.style.top = `${below ? y + 18 : Math.max(6, y - box.height - 12)}px`;
};
const hideTip = () => { tip.hidden = true; };

const words = new Map();
for (const dt of all("#glossary dt")) words.set(dt.textContent, dt.nextElementSibling.textContent);

for (const th of all("th[title]")) {
	th.dataset.tip = th.title;
	th.removeAttribute("title");
}
for (const title of all(".f > title, .bar title")) {
	title.parentNode.dataset.tip = title.textContent;
	title.remove();
}
// A bucket, a finding or a reason in a table is a word, too.
const wordColumns = new Set(["bucket", "reason", "class", "owner"]);
for (const table of all("table"))
	all("th", table).forEach((th, i) => {
		if (!wordColumns.has(th.textContent)) return;
		for (const row of all("tbody tr", table))
			if (words.has(row.cells[i].textContent))
				row.cells[i].dataset.tip = words.get(row.cells[i].textContent);
	});
const tipOf = (element) => {
	const word = element.dataset.word;
	return element.dataset.tip || (words.has(word) ? `${word}: ${words.get(word)}` : "");
};
document.addEventListener("pointerover", (e) => {
	const of = e.target.closest("[data-tip], [data-word]");
	if (of && tipOf(of)) showTip(tipOf(of), e.clientX, e.clientY);
	else if (!e.target.closest("#strips")) hideTip();
});
document.addEventListener("scroll", hideTip, { passive: true });

// ---- theme, commands ------------------------------------------------------------------------

const redraws = [];		// what is drawn with the colours of the theme
const theme = byId("theme");
const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" :
	matchMedia("(prefers-color-scheme: dark)").matches;
const setTheme = () => {
	theme.textContent = isDark() ? "light" : "dark";
	for (const redraw of redraws) redraw();
};
theme.hidden = false;
theme.addEventListener("click", () => {
	root.dataset.theme = isDark() ? "light" : "dark";
	setTheme();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", setTheme);

for (const code of all("code.command")) {
	const button = make("button", "copy", "copy");
	button.type = "button";
	button.addEventListener("click", async () => {
		getSelection().selectAllChildren(code);
		try {
			await navigator.clipboard.writeText(code.textContent);
			button.textContent = "copied";
		} catch {
			button.textContent = "selected";
		}
	});
	code.after(button);
}

// ---- tables ---------------------------------------------------------------------------------

const valueOf = (cell) => {
	const text = cell.dataset.v ?? cell.textContent;
	if (text === "-" || text === "") return null;
	return cell.classList.contains("n") ? Number(text.replaceAll(",", "")) : text;
};
const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b :
	String(a).localeCompare(String(b), "en", { numeric: true });
const sortBy = (th) => {
	const table = th.closest("table"), body = table.tBodies[0];
	const isNumber = th.classList.contains("n"), was = th.getAttribute("aria-sort");
	const down = was ? was === "ascending" : isNumber;
	for (const other of all("th", table)) other.removeAttribute("aria-sort");
	th.setAttribute("aria-sort", down ? "descending" : "ascending");
	const rows = [...body.rows].map((row) => [valueOf(row.cells[th.cellIndex]), row]);
	rows.sort(([a], [b]) => {	// what is unknown comes last in both orders
		if (a === null || b === null) return (a === null) - (b === null);
		return down ? compare(b, a) : compare(a, b);
	});
	body.append(...rows.map(([, row]) => row));
};
for (const th of all("th")) {
	th.tabIndex = 0;
	th.addEventListener("click", () => sortBy(th));
	th.addEventListener("keydown", (e) => { if (e.key === "Enter") sortBy(th); });
}
const filter = byId("filter");
filter.closest(".tools").hidden = false;
filter.addEventListener("input", () => {
	const text = filter.value.toLowerCase();
	for (const section of all("#tables .table")) {
		let any = false;
		for (const row of all("tbody tr", section)) {
			row.hidden = text !== "" && !row.textContent.toLowerCase().includes(text);
			any ||= !row.hidden;
		}
		section.hidden = !any;
	}
});

// ---- flame graphs ---------------------------------------------------------------------------

for (const flame of all(".flame")) {
	const frames = all(".f", flame).map((f) => ({
		f, x: parseFloat(f.getAttribute("x")), width: parseFloat(f.getAttribute("width")),
		y: Number(f.getAttribute("y")),
	}));
	const whole = { x: 0, width: 100, y: 0 };
	let shown = whole;
	flame.addEventListener("click", (e) => {
		const at = frames.find(({ f }) => f === e.target.closest(".f"));
		if (!at) return;
		// A frame above, or the same again, leads back to the whole.
		const to = shown = at === shown || (shown !== whole && at.y === 0) ? whole : at;
		const slack = 0.01;
		for (const { f, x, width, y } of frames) {
			const isBelow = y >= to.y && x >= to.x - slack && x + width <= to.x + to.width + slack;
			const isAbove = y < to.y && x <= to.x + slack && x + width >= to.x + to.width - slack;
			f.setAttribute("display", isBelow || isAbove ? "inline" : "none");
			f.setAttribute("x", `${isBelow ? (x - to.x) / to.width * 100 : 0}%`);
			f.setAttribute("width", `${isBelow ? width / to.width * 100 : 100}%`);
		}
	});
}

// ---- the ledger over time -------------------------------------------------------------------

const { wall_ns: wall, bin_ns: binNs } = data.time;
const probe = make("i", "", "", byId("strips"));
probe.hidden = true;
const fillOf = (...names) => {
	for (const name of names) {
		probe.className = `b-${name}`;
		const fill = getComputedStyle(probe).getPropertyValue("--fill").trim();
		if (fill) return fill;
	}
	return "#888";
};
const inkOf = (name) => getComputedStyle(root).getPropertyValue(name).trim();

// Sums up to the beginning of each bin, and so of any time: in a bin it lies evenly.
const expand = (runs, bins) => {
	const sums = new Float64Array(bins + 1);
	let i = 0, sum = 0;
	for (const n of runs)
		if (n < 0) {
			for (let end = i - n; i < end; i++) sums[i + 1] = sum;
		} else {
			sum += n;
			sums[++i] = sum;
		}
	sums.fill(sum, i + 1);
	return sums;
};
const order = ["compute", "comm", "copy", "set", "cpu", "call", "gpuprof", "off", "unseen", "idle"];
const strips = data.time.strips.map((s) => {
	const bins = Math.max(1, Math.ceil((wall - s.from_ns) / binNs));
	const rows = s.rows.map(([state, bucket, runs]) => {
		const sums = expand(runs, bins);
		return { state, bucket, sums, total: sums[bins] };
	});
	const isUnknown = ({ bucket }) => ["unknown", "lost", "unarmed"].includes(bucket);
	rows.sort((a, b) => isUnknown(b) - isUnknown(a) || order.indexOf(a.state) - order.indexOf(b.state) ||
		b.total - a.total);
	rows.sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
	return { ...s, bins, rows };
});
const sumTo = (strip, row, t) => {
	const at = (t - strip.from_ns) / binNs, i = Math.floor(at);
	if (at <= 0) return 0;
	if (i >= strip.bins) return row.total;
	const width = Math.min(binNs, wall - strip.from_ns - i * binNs) / binNs;
	return row.sums[i] + (row.sums[i + 1] - row.sums[i]) * Math.min(1, (at - i) / width);
};
const between = (strip, row, t0, t1) => sumTo(strip, row, t1) - sumTo(strip, row, t0);

const view = { from: 0, to: wall };
const holder = byId("strips");
const rows = [];		// { strip, canvas, share }, and the axis with strip null
const plural = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

const colorOf = (strip, row) => strip.gpu === undefined || row.state === "idle" ?
	fillOf(row.bucket, row.state) : fillOf(row.state);

const prepare = (canvas) => {
	const ratio = devicePixelRatio || 1;
	canvas.width = Math.max(1, Math.round(canvas.clientWidth * ratio));
	canvas.height = Math.round(canvas.clientHeight * ratio);
	return canvas.getContext("2d");
};
const drawStrip = ({ strip, canvas }) => {
	const context = prepare(canvas), { width, height } = canvas;
	const step = (view.to - view.from) / width;
	const base = new Float64Array(width);
	for (const row of strip.rows) {
		context.fillStyle = colorOf(strip, row);
		context.globalAlpha = row.state === "idle" ? 0.75 : 1;
		let before = sumTo(strip, row, view.from);
		for (let x = 0; x < width; x++) {
			const after = sumTo(strip, row, view.from + (x + 1) * step);
			const h = Math.min(1, (after - before) / step) * height;
			before = after;
			if (h < 0.02) continue;
			context.fillRect(x, height - base[x] - h, 1, h);
			base[x] += h;
		}
	}
	context.globalAlpha = 1;
	drawMoments(context, strip, canvas);
};
const isOf = (strip, moment) => strip.gpu !== undefined &&
	(strip.gpu === moment.gpu || strip.gpu.startsWith(`${moment.gpu}:`));
const xOf = (t, width) => (t - view.from) / (view.to - view.from) * width;
const drawMoments = (context, strip, { width, height }) => {
	context.fillStyle = fillOf("runqueue");
	for (const slow of data.moments.slow)
		if (isOf(strip, slow)) {
			const x = xOf(slow.from_ns, width);
			context.fillRect(x, 0, Math.max(1, xOf(slow.to_ns, width) - x), height / 8);
		}
	context.fillStyle = inkOf("--high");
	for (const fault of data.moments.faults)
		if (isOf(strip, fault)) {
			const x = Math.round(xOf(fault.ns, width));
			context.fillRect(x - 1, 0, 2, height);
			context.beginPath();
			context.moveTo(x - height / 4, 0);
			context.lineTo(x + height / 4, 0);
			context.lineTo(x, height / 3);
			context.fill();
		}
};
const drawAxis = ({ canvas }) => {
	const context = prepare(canvas), ratio = devicePixelRatio || 1, { width } = canvas;
	const least = (view.to - view.from) / Math.max(1, canvas.clientWidth / 90);
	const power = 10 ** Math.floor(Math.log10(least));
	const tick = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least);
	context.fillStyle = inkOf("--dim");
	context.font = `${11 * ratio}px system-ui, sans-serif`;
	for (let t = Math.ceil(view.from / tick) * tick; t <= view.to; t += tick) {
		const x = xOf(t, width), text = tick >= 1e7 ? `${+(t / 1e9).toFixed(2)} s` :
			tick >= 1e4 ? `${+(t / 1e6).toFixed(2)} ms` : `${+(t / 1e3).toFixed(2)} us`;
		context.fillRect(x, 0, ratio, 4 * ratio);
		const room = context.measureText(text).width;
		context.fillText(text, Math.min(x + 3 * ratio, width - room), 15 * ratio);
	}
};
const sharesOf = (strip, from, to) => {
	const shares = strip.rows.map((row) => ({ row, ns: between(strip, row, from, to) }));
	const sum = shares.reduce((ns, one) => ns + one.ns, 0);
	return { sum, list: shares.filter((s) => s.ns > 0).sort((a, b) => b.ns - a.ns) };
};
const nameOf = ({ state, bucket }) => state === "idle" ? `idle, ${bucket}` :
	state === "off" ? `off the CPU, ${bucket}` : state === "call" ? `in calls, ${bucket}` :
	state === "cpu" ? "on the CPU, in no call" : bucket;
const setShares = () => {
	for (const { strip, share } of rows) {
		if (!strip) continue;
		const { sum, list } = sharesOf(strip, view.from, view.to);
		const busy = list.filter(({ row }) => row.state !== "idle");
		const ns = busy.reduce((s, one) => s + one.ns, 0);
		share.textContent = !sum ? "" : strip.gpu !== undefined ? `${percentText(ns / sum)} busy` :
			`${list[0].row.bucket} ${(list[0].ns / sum * 100).toFixed(0)} %`;
	}
};
const draw = () => {
	for (const row of rows) {
		if (row.memory) row.memory.colors = row.memory.kinds.map(({ kind }) => fillOf(`m-${kind}`, "copy"));
		(row.memory ? drawMemory : row.strip ? drawStrip : drawAxis)(row);
	}
	setShares();
	holder.dataset.view = `${Math.round(view.from)} ${Math.round(view.to)}`;
	range.textContent = view.from === 0 && view.to === wall ? `all of ${nsText(wall)}` :
		`${nsText(view.from)} to ${nsText(view.to)}, ${nsText(view.to - view.from)}`;
};
const show = (from, to) => {
	const least = Math.min(wall, binNs * 4), width = Math.max(least, Math.min(wall, to - from));
	const middle = (from + to) / 2;
	view.from = Math.max(0, Math.min(wall - width, middle - width / 2));
	view.to = view.from + width;
	if (width >= wall * 0.999) [view.from, view.to] = [0, wall];
	requestAnimationFrame(draw);
};
const zoom = (factor, at = (view.from + view.to) / 2) =>
	show(at - (at - view.from) * factor, at + (view.to - at) * factor);
const pan = (share) => {
	const by = Math.max(-view.from, Math.min(wall - view.to, (view.to - view.from) * share));
	show(view.from + by, view.to + by);
};

// Memory in use, below the GPU that has it or the process that allocated it: a value for each time,
// the largest of what a pixel stands for.
const expandBytes = (runs) => {
	const bytes = [];
	for (const n of runs)
		if (n < 0) for (let i = n; i < 0; i++) bytes.push(bytes[bytes.length - 1]);
		else bytes.push(n);
	return bytes;
};
const memoryOfGpu = ({ gpu, points }) => ({
	name: "memory, by NVML", of: `GPU ${gpu}, all processes`, times: points.map(([ns]) => ns),
	kinds: [{ kind: "used", bytes: points.map(([, bytes]) => bytes) }],
});
const memoryOfProcess = ({ pid, bin_ns: bin, kinds }) => {
	const list = kinds.map(([kind, runs]) => ({ kind, bytes: expandBytes(runs) }));
	// What PyTorch gives out is a part of device memory.
	list.sort((a, b) => (a.kind === "torch") - (b.kind === "torch"));
	return { name: "memory allocated", of: `process ${pid}`, kinds: list,
		times: list[0].bytes.map((_, i) => Math.min(wall, (i + 1) * bin)) };
};
const mostOf = ({ times, kinds }, from, to) => {	// of each kind, in [from, to)
	let i = times.findIndex((t) => t > from);
	if (i < 0) i = times.length - 1;
	const most = kinds.map(({ bytes }) => bytes[i]);
	for (; i < times.length && (i ? times[i - 1] : 0) < to; i++)
		kinds.forEach(({ bytes }, k) => { most[k] = Math.max(most[k], bytes[i]); });
	return most;
};
const isCounted = ({ kind }, kinds) => kind !== "torch" || kinds.length === 1;
const peakOf = ({ kinds }) => kinds[0].bytes.reduce((most, _, i) => Math.max(most,
	kinds.reduce((sum, one) => sum + (isCounted(one, kinds) ? one.bytes[i] : 0), 0)), 0);
const drawMemory = ({ memory, canvas }) => {
	const context = prepare(canvas), { width, height } = canvas;
	const step = (view.to - view.from) / width, last = memory.times[memory.times.length - 1];
	for (let x = 0; x < width && view.from + x * step < last; x++) {
		let base = 0;
		mostOf(memory, view.from + x * step, view.from + (x + 1) * step).forEach((bytes, k) => {
			if (!isCounted(memory.kinds[k], memory.kinds)) return;
			const h = bytes / memory.peak * height;
			context.fillStyle = memory.colors[k];
			context.fillRect(x, height - base - h, 1, h);
			base += h;
		});
	}
};
const describeMemory = ({ memory }, t) => {
	const most = mostOf(memory, t, t + (view.to - view.from) / chartBox().width);
	return [`${memory.of} at ${nsText(t)}: memory`,
		...memory.kinds.map(({ kind }, k) => `${bytesText(most[k])}  ${kind}`)].join("\n");
};
const addMemory = (memory) => {
	memory.peak = peakOf(memory);
	if (!memory.peak) return;
	const row = make("div", "row memory", undefined, holder);
	make("div", "name", memory.name, row);
	const canvas = make("canvas", "", undefined, make("div", "chart", undefined, row));
	make("div", "share", `\u2264 ${bytesText(memory.peak)}`, row);
	rows.push({ memory, canvas });
};

const addRow = (strip) => {
	const kind = !strip ? "axis" : strip.gpu !== undefined ? "gpu-row" : "thread";
	const row = make("div", `row ${kind}`, undefined, holder);
	const name = make("div", "name", !strip ? "" : strip.gpu !== undefined ?
		`GPU ${strip.gpu}  ${strip.comm} (${strip.pid})` : `${strip.comm} ${strip.tid}`, row);
	name.dataset.tip = !strip ? "" : strip.gpu !== undefined ?
		`GPU ${strip.gpu} as process ${strip.pid} (${strip.comm}) used it` :
		`thread ${strip.tid} (${strip.comm}) of process ${strip.pid}`;
	const canvas = make("canvas", "", undefined, make("div", "chart", undefined, row));
	rows.push({ strip, canvas, share: make("div", "share", "", row) });
};
const tools = make("p", "tools");
const button = (text, label, act) => {
	const b = make("button", "", text, tools);
	b.type = "button";
	b.setAttribute("aria-label", label);
	b.addEventListener("click", act);
};
button("+", "zoom in", () => zoom(0.5));
button("\u2212", "zoom out", () => zoom(2));
button("\u25c0", "earlier", () => pan(-0.3));
button("\u25b6", "later", () => pan(0.3));
button("all", "show all", () => show(0, wall));
const range = make("span", "range", "", tools);
make("span", "hint", "drag: zoom in; click, then wheel or keys + \u2212 \u2190 \u2192 0", tools);

const chartBox = () => rows[rows.length - 1].canvas.getBoundingClientRect();
const timeAt = (clientX) => {
	const box = chartBox(), share = (clientX - box.left) / box.width;
	return view.from + Math.max(0, Math.min(1, share)) * (view.to - view.from);
};
const cursor = make("div", "cursor"), selected = make("div", "select");
let drag = null;		// where it began
const place = (element, from, to) => {
	const box = holder.getBoundingClientRect();
	element.style.left = `${Math.min(from, to) - box.left}px`;
	element.style.width = `${Math.max(1, Math.abs(to - from))}px`;
	element.hidden = false;
};
const describe = (strip, t) => {
	const half = Math.max(binNs, (view.to - view.from) / chartBox().width) / 2;
	const { sum, list } = sharesOf(strip, t - half, t + half);
	const lines = list.slice(0, 5).map(({ row, ns }) => `${percentText(ns / sum)}  ${nameOf(row)}`);
	const name = strip.gpu !== undefined ? `GPU ${strip.gpu}, ${strip.comm} (pid ${strip.pid})` :
		`thread ${strip.tid}, ${strip.comm}`;
	const faults = data.moments.faults.filter((f) => isOf(strip, f) && Math.abs(f.ns - t) < half * 8);
	const slow = data.moments.slow.filter((s) => isOf(strip, s) && s.from_ns <= t && t < s.to_ns);
	return [`${name} at ${nsText(t)} (${nsText(2 * half)})`,
		...(sum ? lines : ["its book was not open"]),
		...slow.map((s) => `clocks reduced by ${s.why}`), ...faults.map((f) => f.text)].join("\n");
};
holder.addEventListener("pointermove", (e) => {
	const box = chartBox();
	if (e.clientX < box.left || e.clientX > box.right) {
		cursor.hidden = true;
		return;
	}
	place(cursor, e.clientX, e.clientX);
	cursor.style.width = "1px";
	if (drag !== null) place(selected, drag, Math.max(box.left, Math.min(box.right, e.clientX)));
	const row = rows.find(({ canvas }) => canvas === e.target);
	if (row?.strip) showTip(describe(row.strip, timeAt(e.clientX)), e.clientX, e.clientY);
	else if (row?.memory) showTip(describeMemory(row, timeAt(e.clientX)), e.clientX, e.clientY);
	else if (!e.target.closest("[data-tip], [data-word]")) hideTip();
});
holder.addEventListener("pointerleave", () => { cursor.hidden = true; hideTip(); });
holder.addEventListener("pointerdown", (e) => {
	if (e.button !== 0 || e.target.tagName !== "CANVAS") return;
	holder.focus({ preventScroll: true });
	drag = e.clientX;
});
addEventListener("pointerup", (e) => {
	if (drag === null) return;
	if (Math.abs(e.clientX - drag) > 5) {
		const [a, b] = [timeAt(drag), timeAt(e.clientX)];
		show(Math.min(a, b), Math.max(a, b));
	}
	drag = null;
	selected.hidden = true;
});
addEventListener("pointercancel", () => { drag = null; selected.hidden = true; });
holder.addEventListener("dblclick", () => show(0, wall));
// A page that is scrolled is not to stop here: only who has clicked, or holds a key, zooms.
holder.addEventListener("wheel", (e) => {
	if (!e.ctrlKey && !e.shiftKey && document.activeElement !== holder) return;
	e.preventDefault();
	if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) pan(e.deltaX / 800);
	else zoom(Math.exp(e.deltaY / 400), timeAt(e.clientX));
}, { passive: false });
const keys = {
	"+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": () => show(0, wall),
	ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), Escape: () => holder.blur(),
	Home: () => show(0, view.to - view.from), End: () => show(wall - (view.to - view.from), wall),
};
holder.addEventListener("keydown", (e) => {
	if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
	e.preventDefault();
	keys[e.key]();
});

const addLegend = () => {
	const legend = make("ul", "legend"), seen = new Set();
	for (const { strip } of rows)
		for (const row of strip ? strip.rows.filter((r) => r.total >= wall / 1000) : []) {
			const isDevice = strip.gpu !== undefined && row.state !== "idle";
			const name = isDevice || row.state === "cpu" ? row.state : row.bucket;
			if (seen.has(name)) continue;
			seen.add(name);
			const item = make("li", "", undefined, legend);
			make("i", name === "cpu" || !isDevice ? `b-${row.state} b-${name}` : `b-${name}`,
				undefined, item).style.background = colorOf(strip, row);
			const text = make("span", "", name === "cpu" ? "own code" : name, item);
			text.dataset.word = name === "cpu" ? "other" : name;
		}
	return legend;
};
const addMoments = (after) => {
	const list = make("ul", "moments");
	for (const f of data.moments.faults)
		make("li", "", `${nsText(f.ns)}  ${f.text}${f.times > 1 ? `, ${f.times} times` : ""}`, list);
	for (const s of data.moments.slow.slice(0, 20))
		make("li", "", `${nsText(s.from_ns)} to ${nsText(s.to_ns)}  GPU ${s.gpu}: clocks reduced by ` +
			s.why, list);
	const more = data.moments.more + Math.max(0, data.moments.slow.length - 20);
	if (more) make("li", "note", `${more} more`, list);
	if (list.children.length) after.after(list);
};
if (strips.length) {
	const ofGpu = new Map(data.moments.memory.map((m) => [m.gpu, m]));
	const ofProcess = new Map(data.moments.live.map((m) => [m.pid, m]));
	strips.forEach((strip, i) => {
		const gpu = ofGpu.get(strip.gpu), next = strips[i + 1];
		const addOf = () => {	// once, behind the devices of the process
			const process = ofProcess.get(strip.pid);
			if (process) addMemory(memoryOfProcess(process));
			ofProcess.delete(strip.pid);
		};
		if (strip.gpu === undefined) addOf();
		addRow(strip);
		if (gpu?.points.length) addMemory(memoryOfGpu(gpu));
		ofGpu.delete(strip.gpu);
		if (next?.pid !== strip.pid) addOf();
	});
	addRow(null);
	holder.append(cursor, selected);
	cursor.hidden = selected.hidden = true;
	holder.before(tools);
	let legend = addLegend();
	holder.after(legend);
	addMoments(legend);
	if (data.time.left_out)
		legend.after(make("p", "note", `${plural(data.time.left_out, "more strip")} left out: those ` +
			"with the least time in calls; their sums are in the tables."));
	redraws.push(() => {
		const again = addLegend();
		legend.replaceWith(again);
		legend = again;
		draw();
	});
	new ResizeObserver(() => requestAnimationFrame(draw)).observe(holder);
	draw();
} else {
	make("p", "note", "The capture has no book of a device or thread that could be drawn.", holder);
	addMoments(holder);
}

setTheme();
root.dataset.ready = "yes";
})();
