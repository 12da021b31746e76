# frozen_string_literal: true

require "json"
require "digest"

# Reports to a channel of its own, as JSON lines, what RSpec or minitest runs.
module Touchstone
  PLAN = JSON.parse(File.read(File.join(__dir__, "plan.json")))
  ROOT = File.realpath(ENV.delete("TOUCHSTONE_ROOT") || Dir.pwd)
  OUT = File.open(ENV.delete("TOUCHSTONE_REPORT"), "w")
  OUT.sync = true
  OUT.close_on_exec = true
  OWNER = Process.pid

  module_function

  def say(kind, fields)
    return unless Process.pid == OWNER # not in a child

    OUT.write(JSON.generate(clean(fields.merge(kind: kind))) + "\n")
  end

  def clean(value)
    case value
    when Hash then value.transform_values { |v| clean(v) }
    when Array then value.map { |v| clean(v) }
    when String then value.encode("UTF-8", invalid: :replace, undef: :replace).scrub[0, 4000]
    else value
    end
  end

  def relative(path)
    return "" if path.to_s.start_with?("<", "(")

    full = File.expand_path(path.to_s)
    full = File.realpath(full) if File.exist?(full)
    full.start_with?(ROOT + "/") ? full[(ROOT.size + 1)..] : ""
  end

  # extent is the file and the first and last line of a block or a method.
  def extent(code)
    file, line = code.source_location
    finish = line
    if defined?(RubyVM::InstructionSequence) && (iseq = RubyVM::InstructionSequence.of(code))
      finish = (iseq.to_a[4] || {})[:code_location].to_a[2] || line
    end
    [relative(file), line, finish]
  rescue StandardError
    ["", 0, 0]
  end

  def exception(error)
    return nil unless error

    error = error.all_exceptions.first || error if error.respond_to?(:all_exceptions)
    error = error.error if defined?(Minitest::UnexpectedError) && error.is_a?(Minitest::UnexpectedError)
    frames = (error.backtrace || []).filter_map do |frame|
      file, line, name = frame.match(/\A(.+?):(\d+)(?::in [`'](?:block .*?in )?(?:.*[#.])?(.*)')?\z/)&.captures
      { file: relative(file), line: line.to_i, name: name } if file
    end
    { class: error.class.name.to_s, ancestors: error.class.ancestors.map(&:to_s).first(12), message: error.message.to_s, name: name_of(error), owner: owner_of(error), frames: frames.first(60) }
  end

  def name_of(error)
    case error
    when NameError then error.name.to_s
    when LoadError then error.path.to_s
    when KeyError then ""
    else ""
    end
  rescue StandardError
    ""
  end

  def owner_of(error)
    return "" unless error.is_a?(NameError)

    receiver = error.receiver
    return "NoneType" if receiver.nil? && error.is_a?(NoMethodError)

    receiver.is_a?(Module) ? receiver.name.to_s : receiver.class.name.to_s
  rescue StandardError
    ""
  end

  def wanted?(id)
    @wanted ||= PLAN["rows"].to_h { |row| [row, true] }
    @wanted.empty? || @wanted.key?(id) || canary?(id)
  end

  # canary? tells the gate's own checks, which must fail, by their name.
  def canary?(id)
    !PLAN["canary"].to_s.empty? && id.end_with?(PLAN["canary"])
  end

  # fail_twice asks an assertion to fail first: where it does not, the check
  # passes, and that is told.
  def fail_twice
    held = begin
      yield
      true
    rescue Exception # rubocop:disable Lint/RescueException
      false
    end
    raise "this check of the gate's must fail" unless held
  end

  # finish says from where the changed files were loaded, and that this is the end.
  def finish
    PLAN["subjects"].each do |subject|
      tail = "/" + subject.sub(%r{\A(?:.*/)?(?:lib|app/\w+)/}, "")
      file = $LOADED_FEATURES.find { |f| f.end_with?("/" + subject) } || $LOADED_FEATURES.find { |f| f.end_with?(tail) && tail.count("/") > 1 }
      next unless file

      say("loaded", id: subject, file: file, in_tree: relative(file) == subject, words: Digest::SHA256.file(file).hexdigest)
    end
    say("close", {})
  end

  # number makes ids of equal names distinct, in order of declaration.
  def number(pairs)
    count = Hash.new(0)
    pairs.to_h { |key, id| [key, (count[id] += 1) > 1 ? "#{id}##{count[id]}" : id] }
  end
end

if Touchstone::PLAN["framework"] == "rspec"
  require "rspec/core"

  module Touchstone
    module_function

    def ids
      @ids ||= begin
        all = RSpec.world.example_groups.flat_map { |g| g.descendants.flat_map(&:examples) }.uniq
        number(all.map { |e| [e, plain(e)] })
      end
    end

    def plain(example)
      titles = example.example_group.parent_groups.reverse.map(&:description)
      name = example.metadata[:description_args].to_a.empty? ? "it" : example.description
      [relative(example.metadata[:rerun_file_path]), *titles, name].join(" > ")
    end

    def row(example)
      file, line, finish = extent(example.metadata[:block] || proc {})
      file = relative(example.metadata[:absolute_file_path] || example.metadata[:file_path]) if example.metadata[:block].nil? || file.empty?
      line = finish = example.metadata[:line_number] if line.to_i.zero? || example.metadata[:block].nil?
      { id: ids[example], name: ids[example].split(" > ").last, unit: relative(example.metadata[:rerun_file_path]), file: file, line: [line, example.metadata[:line_number]].min, end: finish }
    end

    # Dropped are the examples that the suite's own filters leave out.
    def dropped
      @dropped ||= {}
    end

    # Chosen keeps the rows that were asked for.
    module Chosen
      def prune(examples)
        kept = super
        (examples - kept).each { |e| Touchstone.dropped[e] = true }
        kept.select { |e| Touchstone.wanted?(Touchstone.ids[e] || Touchstone.plain(e)) }
      end
    end

    # Canaries puts into each group that was loaded an example that must fail, and
    # lets each that is there fail under its own name and with its own metadata.
    module Canaries
      def load_spec_files
        super
        return if Touchstone::PLAN["canary"].to_s.empty?

        fails = proc { Touchstone.fail_twice { expect(1).to eq(2) } }
        RSpec.world.example_groups.flat_map(&:descendants).uniq.each do |group|
          group.examples.each { |e| e.instance_variable_set(:@example_block, fails) if e.metadata[:block] }
          group.it(Touchstone::PLAN["canary"], caller: ["#{group.metadata[:absolute_file_path]}:1"], &fails)
        end
      end
    end

    # Outside hears of errors that belong to no example.
    module Outside
      def notify_non_example_exception(error, context)
        Touchstone.say("outside", context: context.to_s, error: Touchstone.exception(error))
        super
      end
    end

    # Formatter hears what becomes of each example.
    class Formatter
      RSpec::Core::Formatters.register self, :start, :example_started, :example_passed, :example_failed, :example_pending, :close
      def initialize(_output); end

      def start(_)
        chosen = RSpec.world.example_groups.flat_map { |g| g.descendants.flat_map { |d| RSpec.world.filtered_examples[d] } }.to_h { |e| [e, true] }
        Touchstone.ids.each_key { |e| Touchstone.say("row", Touchstone.row(e).merge(chosen: chosen.key?(e), dropped: Touchstone.dropped.key?(e) && Touchstone.wanted?(Touchstone.ids[e]))) }
      end

      def example_started(notification)
        Touchstone.say("begin", id: Touchstone.ids[notification.example])
      end

      def example_passed(notification) = finish(notification, "passed")

      def example_failed(notification) = finish(notification, "failed")

      def example_pending(notification) = finish(notification, "skipped")

      def finish(notification, outcome)
        result = notification.example.execution_result
        Touchstone.say("end", id: Touchstone.ids[notification.example], outcome: outcome, took: result.run_time.to_f, words: result.pending_message.to_s, error: Touchstone.exception(outcome == "failed" ? result.exception : nil))
      end

      def close(_)
        Touchstone.finish
      end
    end
  end

  RSpec::Core::FilterManager.prepend(Touchstone::Chosen)
  RSpec::Core::Configuration.prepend(Touchstone::Canaries)
  RSpec::Core::Reporter.prepend(Touchstone::Outside)
  RSpec.configure { |config| config.add_formatter(Touchstone::Formatter, File::NULL) }
else
  require "minitest"

  module Touchstone
    @files = {}

    module_function

    def home(klass, name)
      at = relative(klass.instance_method(name).source_location&.first)
      PLAN["files"].include?(at) ? at : (@files[klass] || at)
    end

    def ids
      @ids ||= begin
        pairs = Minitest::Runnable.runnables.reject { |k| k == Minitest::Runnable }.flat_map do |k|
          k.instance_methods.map(&:to_s).grep(/\Atest_/).select { |m| k.methods_matching(/\A#{Regexp.escape(m)}\z/).any? }.map { |m| [k, m] }
        end
        pairs = pairs.sort_by { |k, m| [home(k, m), k.instance_method(m).source_location.to_a.last.to_i, k.to_s, m] }
        number(pairs.map { |k, m| [[k, m], [home(k, m), k.to_s, m.sub(/\Atest_\d{4}_/, "")].join(" > ")] })
      end
    end

    def row(klass, name)
      file, line, finish = extent(klass.instance_method(name))
      id = ids[[klass, name]]
      { id: id, name: id.split(" > ").last, unit: home(klass, name), file: file, line: line, end: finish }
    end

    def load_all
      PLAN["files"].each do |file|
        before = Minitest::Runnable.runnables.dup
        begin
          require File.join(ROOT, file)
        rescue ScriptError, StandardError => e
          say("outside", context: "while loading #{file}.", error: exception(e))
        end
        (Minitest::Runnable.runnables - before).each { |k| @files[k] ||= file }
      end
      canaries unless PLAN["canary"].to_s.empty?
    end

    # canaries puts into each class that was loaded a test that must fail, and lets
    # each that is there fail under its own name.
    def canaries
      fails = proc { Touchstone.fail_twice { assert_equal 1, 2 } }
      classes = @files.keys.select { |klass| klass <= Minitest::Test }
      classes.each { |klass| klass.send(:define_method, "test_#{PLAN['canary']}", &fails) }
      ids.each_key { |klass, name| klass.send(:define_method, name, &fails) if classes.include?(klass) }
    end

    # Ran hears what becomes of each test.
    module Ran
      def run
        id = Touchstone.ids[[self.class, name]]
        return super unless id

        Touchstone.say("begin", id: id)
        result = super
        failure = result.failures.find { |f| !f.is_a?(Minitest::Skip) } || result.failures.first
        outcome = failure.nil? ? "passed" : failure.is_a?(Minitest::Skip) ? "skipped" : "failed"
        Touchstone.say("end", id: id, outcome: outcome, took: result.time.to_f, words: outcome == "skipped" ? failure.message : "", error: Touchstone.exception(outcome == "failed" ? failure : nil))
        result
      end
    end
  end

  Minitest::Test.prepend(Touchstone::Ran)
  Minitest.after_run { Touchstone.finish }
  Touchstone.load_all
  chosen = Touchstone.ids.select { |_, id| Touchstone.wanted?(id) }
  Touchstone.ids.each_key { |pair| Touchstone.say("row", Touchstone.row(*pair).merge(chosen: chosen.key?(pair))) }
  if Touchstone::PLAN["list"] || chosen.empty?
    Touchstone.finish
    exit!(0)
  end
  unless Touchstone::PLAN["rows"].empty?
    names = chosen.keys.map { |klass, name| Regexp.escape("#{klass}##{name}") }
    ARGV.push("-n", "/\\A(?:#{names.join('|')})\\z/")
  end
  Minitest.autorun
end
